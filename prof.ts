import { createCommunity } from './lib/index.ts'
import { openStorage } from './daemon/server/storage-address.ts'
import { rateLimits } from './adapters/rate-limits/index.ts'
import { seed, isSeeded } from './bench/http/seeded.ts'
import { rmSync } from 'node:fs'
const [address='memory:', what='list', n='2000'] = process.argv.slice(2)
if (address.startsWith('sqlite')) rmSync(address.slice(7), {force:true})
const { storage } = await openStorage(address, address.startsWith('sqlite')?undefined:'/tmp/prof/outbox'+process.pid, () => {})
const community = createCommunity({ storage, allowHttp: true, rateLimiter: rateLimits() })
if (!(await isSeeded(storage))) await seed(community, storage, 1000, () => {})
const { token } = await community.keys.create({ network_id: '1', name: 'bench', scopes: ['*'] })
const root='/admin/v1/networks/1'
const headers={authorization:`Bearer ${token}`,'content-type':'application/json'}
const post = JSON.stringify({title:'Morning light',description:'What the sea looked like at six, and which blues it took. '.repeat(12),space_id:'2001'})
const req = (i:number)=> what==='list'? {method:'GET',path:`${root}/members`,search:'?per_page=100'} : what==='id'?{method:'GET',path:`${root}/members/${100000+i%1000}/`,search:''}:{method:'POST',path:`${root}/posts`,search:'',body:post}
const enc = new TextEncoder()
import { Readable } from 'node:stream'
import { toNodeListener } from './adapters/http/node.ts'
import { createServer, request as ask, Agent } from 'node:http'
const server = createServer(toNodeListener(community)).listen(0,'127.0.0.1'); await new Promise(r=>server.once('listening',r))
const port=(server.address() as any).port
import net from 'node:net'
async function loop(count:number, conns:number){ let left=count; await Promise.all(Array.from({length:conns},()=>new Promise<void>(res=>{ const s=net.connect(port,'127.0.0.1'); let need=0; const send=()=>{ if(left--<=0){s.destroy();return res()} const r=req(left); const b=(r as any).body??''; s.write(`${r.method} ${r.path}${r.search} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n${b?`content-length: ${Buffer.byteLength(b)}\r\n`:''}\r\n${b}`)}; s.on('data',(d:Buffer)=>{ if(need===0){const e=d.indexOf('\r\n\r\n'); const h=d.toString('latin1',0,e); if(!h.startsWith('HTTP/1.1 2')) {console.log(d.toString());process.exit(1)} need=e+4+Number(/content-length: (\d+)/i.exec(h)![1])} need-=d.length; if(need<=0){need=0;send()} }); send()})))}
await loop(Number(n)/4,32)
const c0=process.cpuUsage(); await loop(Number(n),32); const c=process.cpuUsage(c0)
console.log(address,what,((c.user+c.system)/Number(n)).toFixed(0),'µs CPU each incl. client')
process.exit(0)
