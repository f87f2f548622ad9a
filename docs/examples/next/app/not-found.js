export default function NotFound() {
  return <h1>your 404</h1>
}
