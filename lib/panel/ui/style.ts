/** The rows of tables as cards, for windows that are narrower than the tables. */
const cards = (tables: string) => `${tables},${tables} tbody{display:block}${tables} thead{position:absolute;clip-path:inset(50%)}
${tables} tr{display:block;border-top:1px solid var(--line);padding:.6rem 0}${tables} tr:first-child{border-top:0}
${tables} :is(th,td){display:block;border:0;padding:.1rem .9rem;text-align:left}${tables} td:empty{display:none}
${tables} .pick:not(:empty),${tables} .pick:not(:empty)+.state{display:inline-block}${tables} .pick:not(:empty)+.state{padding-left:0}
${tables} [data-label]::before{content:attr(data-label) ": ";color:var(--soft);font-weight:400}`

/** The style sheet of the panel. The policy forbids styles in pages. */
export const style = `
:root{color-scheme:light dark;
--bg:light-dark(#f7f7f5,#16181b);--card:light-dark(#fff,#1e2125);--sunk:light-dark(#f0f0ec,#14161a);
--text:light-dark(#1d2024,#e8e9eb);--soft:light-dark(#565c64,#a3a9b2);--line:light-dark(#dcdcd6,#343940);
--accent:light-dark(#1f5f8b,#8cc4ec);--on-accent:light-dark(#fff,#10202c);--brand:var(--accent);
--good:light-dark(#1b6b3a,#86d6a2);--good-bg:light-dark(#e4f3e9,#163323);
--bad:light-dark(#a3261e,#ff9d94);--bad-bg:light-dark(#fbe9e7,#3d1b19);
--warn:light-dark(#7a5200,#f0c674);--warn-bg:light-dark(#fbf1da,#382b10);
--calm:light-dark(#4b5158,#bcc2ca);--calm-bg:light-dark(#ebebe7,#2b3036);
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;--round:6px}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;overflow-wrap:break-word}
.mono,pre,code,dd,.url{overflow-wrap:anywhere}.url{font-weight:400}
a{color:var(--accent)}
:focus-visible,input[type^=date]:focus-within{outline:2px solid var(--accent);outline-offset:2px;border-radius:2px}:is(#main,.note,h1,fieldset):focus-visible{outline-width:1px;outline-offset:4px}
.skip{position:absolute;left:-999rem}.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.5rem 1rem;z-index:2}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.top{background:var(--card);border-bottom:1px solid var(--line);border-top:3px solid var(--brand)}
.in{max-width:72rem;margin:0 auto;padding:0 1.25rem}
.who,.who .end{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem}.who{padding-top:.75rem;font-size:.9rem;overflow-wrap:anywhere}
.who b{font-size:1rem}.who img{height:1.5rem;width:auto}.who .end{margin-left:auto;color:var(--soft)}
nav.main ul{display:flex;flex-wrap:wrap;gap:0 .25rem;list-style:none;margin:.25rem 0 0 -.6rem;padding:0}
nav.main a{display:block;padding:.5rem .6rem;color:var(--soft);text-decoration:none;white-space:nowrap;border-bottom:2px solid transparent}
nav.main a:hover{color:var(--text)}
nav.main a[aria-current]{color:var(--text);border-color:var(--brand);font-weight:600}
#main{padding-top:1.5rem;padding-bottom:3rem}
h1{font-size:1.45rem;line-height:1.25;margin:0 0 .6rem}.head h1{margin:0;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2rem 0 .6rem}h3{font-size:1rem;margin:1.25rem 0 .4rem}
p{margin:.4rem 0 .8rem;max-width:44rem}
.head{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem 1rem;margin-bottom:.6rem}.head .end{margin-left:auto;display:flex;flex-wrap:wrap;gap:.5rem}.head:has(h2){align-items:end}.head h2{margin-bottom:.2rem}.head :is([type=search],select){width:13rem}
.soft{color:var(--soft)}.small{font-size:.87rem}
code,pre,.mono{font-family:var(--mono);font-size:.86em}
.card{background:var(--card);border:1px solid var(--line);border-radius:var(--round);padding:1rem 1.25rem;margin:.8rem 0}
.card>:first-child{margin-top:0}.card>:last-child{margin-bottom:0}
.grid{--least:15rem;display:grid;grid-template-columns:repeat(auto-fit,minmax(var(--least),1fr));gap:.8rem}.grid .card{margin:0}.grid:has(.big){--least:9.5rem}
.empty{text-align:center;padding:2rem 1.25rem}.empty h2{margin-top:0}.empty p{margin-inline:auto}
.scroll{position:relative;overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:var(--round);margin:.8rem 0}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.55rem .8rem;border-top:1px solid var(--line);vertical-align:top}
thead th{border-top:0;color:var(--soft);font-size:.82rem;font-weight:600;white-space:nowrap;background:var(--sunk)}
tbody th{font-weight:600;min-width:9rem}tbody th,.free{overflow-wrap:anywhere}.free{min-width:8rem}.id{display:inline-block;max-width:min(20rem,100%);overflow:hidden;text-overflow:ellipsis;white-space:nowrap;vertical-align:top}tbody th .small,tbody th .mono{font-weight:400}.scroll:has(.narrow){width:28rem;max-width:100%}.narrow :is(th,td){padding-inline:.5rem}.narrow tbody th{min-width:6rem}table.even{table-layout:fixed}table.even th:first-child{width:6.5rem}tbody tr:hover{background:var(--sunk)}
td .keep,tbody th.keep{white-space:nowrap;min-width:0}td>details{margin:0}@media(min-width:80rem){td :is(time,code){white-space:nowrap}.wide tbody th{min-width:11rem}}tr.off td,tr.off th{color:var(--soft)}
.badge{display:inline-block;padding:.05rem .5rem;border-radius:1rem;font-size:.82rem;font-weight:600;white-space:nowrap;color:var(--calm);background:var(--calm-bg)}
.badge.good{color:var(--good);background:var(--good-bg)}.badge.bad{color:var(--bad);background:var(--bad-bg)}.badge.warn{color:var(--warn);background:var(--warn-bg)}
.note{border:1px solid var(--line);border-left:4px solid var(--calm);background:var(--card);border-radius:var(--round);padding:.7rem 1rem;margin:.8rem 0}
.note.good{border-left-color:var(--good)}.note.bad{border-left-color:var(--bad)}.note.warn{border-left-color:var(--warn)}.note>:last-child{margin-bottom:0}.note>:first-child{margin-top:0}
:where(button:not(#api-reference *)),.button{font:inherit;display:inline-block;padding:.4rem .85rem;border-radius:var(--round);border:1px solid var(--line);background:var(--card);color:var(--text);cursor:pointer;text-decoration:none;line-height:1.4}
:where(button:not(#api-reference *):hover),.button:hover{border-color:var(--soft)}
.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}
.danger{color:var(--bad);border-color:currentColor}
.plain{border:0;background:none;padding:0;color:var(--accent);text-decoration:underline}
form{margin:0}h1+form{margin-top:1rem}.row{display:flex;flex-wrap:wrap;gap:.6rem;align-items:center}form.row{align-items:end}.row input[type=search]{flex:1;width:auto;min-width:10rem}
.field{margin:0 0 1.1rem;max-width:40rem}.field label,legend{font-weight:600;display:block;padding:0 0 .15rem}
.filter{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(13rem,100%),1fr));gap:.8rem;align-items:start;margin-top:.8rem}.filter .field{margin:0;max-width:none;min-width:0}.filter select,.filter input{width:100%}.filter .row{grid-column:1/-1;margin:0}
.hint{color:var(--soft);font-size:.87rem;margin:.1rem 0 .3rem}
input,select,textarea{font:inherit;color:var(--text);background:var(--card);border:1px solid light-dark(#8b8f95,#6d747d);border-radius:var(--round);padding:.4rem .6rem;max-width:100%}
input[type=text],input[type=url],input[type=search],textarea{width:100%}input[inputmode],input[type=date]{max-width:12rem}
input[type=checkbox],input[type=radio]{accent-color:var(--accent);width:1rem;height:1rem;margin:0 .45rem 0 0;flex:none}
[aria-invalid]{border-color:var(--bad)}.wrong{color:var(--bad);margin:.25rem 0 0;font-size:.9rem}
fieldset{border:0;padding:0;margin:0 0 1.1rem;min-width:0}
label.check{font-weight:400;display:inline-flex;align-items:center;padding:.1rem 0}fieldset:has([value=chosen]:not(:checked)) .chosen{display:none}.pick label{padding:.25rem}
.swatch{width:1rem;height:1rem;vertical-align:-.15rem;border:1px solid var(--line)}.plain-list{list-style:none;padding:0}blockquote{margin:.4rem 0;padding-left:.8rem;border-left:3px solid var(--line);overflow-wrap:anywhere}.columns{columns:19rem;column-gap:1.5rem;list-style:none;padding:0;margin:.4rem 0}.list{padding-left:1.2rem}.list li{padding:.15rem 0}.columns>*{break-inside:avoid;display:flex;flex-wrap:wrap;align-items:center;gap:0 .4rem}
details{margin:.3rem 0}summary{cursor:pointer}summary::marker{color:var(--soft)}
pre{background:var(--sunk);border:1px solid var(--line);border-radius:var(--round);padding:.7rem .9rem;overflow:auto;max-height:34rem;white-space:pre-wrap;margin:.4rem 0}
.secret{display:flex;gap:.6rem;align-items:center;flex-wrap:wrap}.secret input{background:var(--sunk);font-size:.95rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.2rem;margin:.5rem 0}dt{color:var(--soft)}dd{margin:0;min-width:0}
.json{font-family:var(--mono);font-size:.86rem}.json details details{margin:0 0 0 1.1rem}.json .leaf{margin-left:1.1rem}.json .key{color:var(--accent)}.json .dots{color:var(--soft)}
svg.chart{display:block;margin:.2rem 0;width:100%;height:auto;max-height:9rem}.rate{font-variant-numeric:tabular-nums;display:inline-block;min-width:4rem;text-align:right}svg.spark{width:8rem;height:1.6rem;vertical-align:middle}
.bar-good{fill:var(--good)}.bar-bad{fill:var(--bad)}.bar-warn{fill:var(--warn)}.bar-calm{fill:var(--accent)}.axis{stroke:light-dark(#8b8f95,#8b929c);vector-effect:non-scaling-stroke}.mark{stroke:var(--warn)}
.hours{display:flex;justify-content:space-between;gap:.5rem}.big{font-size:1.6rem;font-weight:600;line-height:1.2;font-variant-numeric:tabular-nums}
meter,progress{width:100%;height:.8rem}
dialog{border:1px solid var(--line);border-radius:8px;background:var(--card);color:var(--text);padding:1.25rem 1.5rem;max-width:min(34rem,92vw)}dialog::backdrop{background:#0008}
.pager{display:flex;gap:1rem;margin:.8rem 0}.pager:empty{display:none}.pager [aria-current]{color:var(--text);font-weight:600;text-decoration:none}
[hidden]{display:none!important}
@media(max-width:34rem){.in{padding:0 .9rem}.who .end{margin-left:0;width:100%}.head .end{margin-left:0}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}
${cards('table.cards:not(.wide)')}}
@media(max-width:62rem){${cards('table.wide')}}
@media(min-width:34.01rem) and (max-width:62rem){table.wide tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(16rem,1fr))}table.wide tbody th{grid-column:1/-1}table.wide :is(.pick:not(:empty),.pick:not(:empty)+.state){grid-area:1/1}table.wide .pick:not(:empty)+.state{padding-left:2.8rem}}
@media(prefers-reduced-motion:no-preference){a,button,.button{transition:border-color .12s,color .12s}}
`.trim()
