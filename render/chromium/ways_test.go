package chromium_test

// way is one way in which a page loads or names something by script. want are the paths that a rendering must find.
type way struct {
	name  string
	html  string            // in the page
	files map[string]string // path → content; the type follows from the ending
	want  []string
	alone bool // it changes the page so much that nothing else can be on it
}

// ways are the ways of a page to load content by script. Paths are relative to the root of the site. "OTHER" is another
// site.
var ways = []way{
	{name: "fetch", html: `<script>fetch("/fetch/a.json")</script>`, want: []string{"/fetch/a.json"}},
	{
		name: "fetch chain", html: `<script>fetch("/chain/a.json").then(r=>r.json()).then(j=>fetch(j.next)).then(r=>r.json()).then(j=>{const i=new Image;i.src=j.img;document.body.append(i)})</script>`,
		files: map[string]string{"/chain/a.json": `{"next":"/chain/b.json"}`, "/chain/b.json": `{"img":"/chain/c.png"}`},
		want:  []string{"/chain/a.json", "/chain/b.json", "/chain/c.png"},
	},
	{
		name: "XMLHttpRequest", html: `<script>x=new XMLHttpRequest;x.open("GET","/xhr/a.json");x.onload=()=>{y=new XMLHttpRequest;y.open("GET",JSON.parse(x.response).next);y.send()};x.send()</script>`,
		files: map[string]string{"/xhr/a.json": `{"next":"/xhr/b.txt"}`}, want: []string{"/xhr/a.json", "/xhr/b.txt"},
	},
	{
		name: "synchronous XMLHttpRequest", html: `<script>s=new XMLHttpRequest;s.open("GET","/sync/a.txt",false);s.send();document.write('<img src="/sync/'+s.responseText+'.png">')</script>`,
		files: map[string]string{"/sync/a.txt": "pic"}, want: []string{"/sync/a.txt", "/sync/pic.png"},
	},
	{
		name: "other site with CORS", html: `<script>fetch("OTHER/cors/a.json",{credentials:"include"}).then(r=>r.json()).then(j=>fetch("OTHER"+j.next))</script>`,
		files: map[string]string{"OTHER/cors/a.json": `{"next":"/cors/b.json"}`}, want: []string{"OTHER/cors/a.json", "OTHER/cors/b.json"},
	},
	{
		name: "preflight", html: `<script>fetch("OTHER/pre/a.json",{headers:{"X-Requested-With":"page"}}).then(r=>r.json()).then(j=>fetch("OTHER"+j.next))</script>`,
		files: map[string]string{"OTHER/pre/a.json": `{"next":"/pre/b.json"}`}, want: []string{"OTHER/pre/a.json", "OTHER/pre/b.json"},
	},
	{
		name: "JSON API with teasers", html: `<div id=api></div><script>fetch("/api/list.json").then(r=>r.json()).then(l=>{for(const t of l)api.innerHTML+='<a href="'+t.link+'"><img src="'+t.img+'"></a>'})</script>`,
		files: map[string]string{"/api/list.json": `[{"link":"/api/one.html","img":"/api/one.jpg"},{"link":"/api/two.html","img":"/api/two.jpg"}]`},
		want:  []string{"/api/list.json", "/api/one.html", "/api/one.jpg", "/api/two.html", "/api/two.jpg"},
	},
	{
		name: "GraphQL by GET", html: `<script>fetch("/graphql?query="+encodeURIComponent("{a}")).then(r=>r.json()).then(j=>{const i=new Image;i.src=j.data.a})</script>`,
		files: map[string]string{"/graphql?query=%7Ba%7D": `{"data":{"a":"/gql/a.png"}}`}, want: []string{"/graphql?query=%7Ba%7D", "/gql/a.png"},
	},
	{
		name: "JSONP", html: `<script>function cb(d){(new Image).src=d.p};k=document.createElement("script");k.src="/jsonp.js?callback=cb";document.head.append(k)</script>`,
		files: map[string]string{"/jsonp.js?callback=cb": `cb({p:"/jsonp/a.png"})`}, want: []string{"/jsonp.js?callback=cb", "/jsonp/a.png"},
	},
	{name: "new Image", html: `<script>(new Image).src="/newimage/a.gif"</script>`, want: []string{"/newimage/a.gif"}},
	{name: "native lazy image", html: `<div style="height:9000px"></div><img loading=lazy src="/lazy/native.jpg" width=9 height=9>`, want: []string{"/lazy/native.jpg"}},
	{
		name: "lazy frame", html: `<iframe loading=lazy src="/lazy/frame.html"></iframe>`,
		files: map[string]string{"/lazy/frame.html": `<img src="/lazy/inframe.png">`}, want: []string{"/lazy/frame.html", "/lazy/inframe.png"},
	},
	{
		name: "IntersectionObserver", html: `<img id=io data-x="/lazy/io.jpg" width=9 height=9><script>new IntersectionObserver((e,o)=>{for(const x of e)if(x.isIntersecting){x.target.src=x.target.dataset.x;o.disconnect()}}).observe(io)</script>`,
		want: []string{"/lazy/io.jpg"},
	},
	{name: "scroll event", html: `<div style="height:2000px"></div><script>addEventListener("scroll",()=>{(new Image).src="/lazy/scroll.jpg"},{once:true})</script>`, want: []string{"/lazy/scroll.jpg"}},
	{
		name: "srcset by script", html: `<script>q=document.createElement("img");q.srcset="/srcset/s.jpg 400w, /srcset/m.jpg 1280w, /srcset/l.jpg 3000w";q.sizes="100vw";document.body.append(q)</script>`,
		want: []string{"/srcset/s.jpg", "/srcset/m.jpg", "/srcset/l.jpg"},
	},
	{
		name: "picture by script", html: `<script>document.body.insertAdjacentHTML("beforeend",'<picture><source type="image/webp" srcset="/picture/a.webp"><img src="/picture/a.jpg"></picture>')</script>`,
		want: []string{"/picture/a.webp", "/picture/a.jpg"},
	},
	{
		name: "style sheet by script", html: `<script>c=document.createElement("link");c.rel="stylesheet";c.href="/css/a.css";document.head.append(c)</script><p class=bg>x</p>`,
		files: map[string]string{"/css/a.css": `.bg{background:url(/css/bg.png)}`}, want: []string{"/css/a.css", "/css/bg.png"},
	},
	{
		name: "constructed style sheet", html: `<b class=cs>x</b><script>d=new CSSStyleSheet;d.replaceSync(".cs{background:url(/css/constructed.png)}");document.adoptedStyleSheets=[d]</script>`,
		want: []string{"/css/constructed.png"},
	},
	{name: "style attribute", html: `<i id=sa>x</i><script>sa.style.backgroundImage="url(/css/attr.png)"</script>`, want: []string{"/css/attr.png"}},
	{
		name: "CSS import", html: `<script>document.head.insertAdjacentHTML("beforeend","<style>@import '/css/imported.css'</style>")</script>`,
		files: map[string]string{"/css/imported.css": `body{list-style:url(/css/deep.png)} ul{display:list-item}`}, want: []string{"/css/imported.css"},
	},
	{name: "FontFace", html: `<script>new FontFace("F","url(/font/a.woff2)").load().catch(()=>{})</script>`, want: []string{"/font/a.woff2"}},
	{
		name: "module", html: `<script type=module src="/module/a.js"></script>`,
		files: map[string]string{"/module/a.js": `import {p} from "./b.js"; fetch(p)`, "/module/b.js": `export const p="/module/c.json"`},
		want:  []string{"/module/a.js", "/module/b.js", "/module/c.json"},
	},
	{
		name: "dynamic import", html: `<script>import("/dynamic/a.js").then(m=>m.go())</script>`,
		files: map[string]string{"/dynamic/a.js": `export function go(){fetch("/dynamic/b.json")}`}, want: []string{"/dynamic/a.js", "/dynamic/b.json"},
	},
	{
		name: "import map", html: `<script type=importmap>{"imports":{"lib":"/map/lib.js"}}</script><script type=module>import "lib"</script>`,
		files: map[string]string{"/map/lib.js": `(new Image).src="/map/a.png"`}, want: []string{"/map/lib.js", "/map/a.png"},
	},
	{
		name: "document.write", html: `<script>document.write('<script src="/write/a.js"></'+'script>')</script>`,
		files: map[string]string{"/write/a.js": `document.write('<img src="/write/b.png">')`}, want: []string{"/write/a.js", "/write/b.png"},
	},
	{
		name: "shadow DOM", html: `<div id=sh></div><script>sh.attachShadow({mode:"open"}).innerHTML='<img src="/shadow/a.png"><a href="/shadow/link.html">x</a>'</script>`,
		want: []string{"/shadow/a.png", "/shadow/link.html"},
	},
	{
		name: "closed shadow DOM", html: `<div id=cl></div><script>cl.attachShadow({mode:"closed"}).innerHTML='<img src="/closed/a.png"><a href="/closed/link.html">x</a>'</script>`,
		want: []string{"/closed/a.png", "/closed/link.html"},
	},
	{
		name: "web component", html: `<x-teaser to="/component/a"></x-teaser><script>customElements.define("x-teaser",class extends HTMLElement{connectedCallback(){const t=this.getAttribute("to");this.attachShadow({mode:"open"}).innerHTML='<a href="'+t+'.html"><img src="'+t+'.png"></a>'}})</script>`,
		want: []string{"/component/a.html", "/component/a.png"},
	},
	{name: "template", html: `<template id=tp><img src="/template/a.png"></template><script>document.body.append(tp.content.cloneNode(true))</script>`, want: []string{"/template/a.png"}},
	{
		name: "frame by script", html: `<script>f=document.createElement("iframe");f.src="/frame/a.html";document.body.append(f)</script>`,
		files: map[string]string{"/frame/a.html": `<script>fetch("/frame/b.json")</script>`}, want: []string{"/frame/a.html", "/frame/b.json"},
	},
	{
		name: "frame of another site", html: `<iframe src="OTHER/frame/other.html"></iframe>`,
		files: map[string]string{"OTHER/frame/other.html": `<script>fetch("/frame/other.json")</script>`}, want: []string{"OTHER/frame/other.html", "OTHER/frame/other.json"},
	},
	{
		name: "srcdoc", html: `<script>g=document.createElement("iframe");g.srcdoc='<img src="/srcdoc/a.png"><a href="/srcdoc/link.html">x</a>';document.body.append(g)</script>`,
		want: []string{"/srcdoc/a.png"},
	},
	{
		name: "blob frame", html: `<script>h=document.createElement("iframe");h.src=URL.createObjectURL(new Blob(['<img src="https://www.site.example/blob/a.png">'],{type:"text/html"}));document.body.append(h)</script>`,
		want: []string{"/blob/a.png"},
	},
	{
		name: "worker", html: `<script>new Worker("/worker/a.js")</script>`,
		files: map[string]string{"/worker/a.js": `importScripts("/worker/b.js");fetch("/worker/c.json")`, "/worker/b.js": ``}, want: []string{"/worker/a.js", "/worker/b.js", "/worker/c.json"},
	},
	{
		name: "shared worker", html: `<script>new SharedWorker("/shared/a.js")</script>`,
		files: map[string]string{"/shared/a.js": `fetch("/shared/b.json")`}, want: []string{"/shared/a.js", "/shared/b.json"},
	},
	{name: "timer", html: `<script>setTimeout(()=>fetch("/timer/a.json"),400)</script>`, want: []string{"/timer/a.json"}},
	{name: "requestIdleCallback", html: `<script>requestIdleCallback(()=>fetch("/idle/a.json"))</script>`, want: []string{"/idle/a.json"}},
	{
		name: "MutationObserver", html: `<script>new MutationObserver(()=>{fetch("/mutation/a.json")}).observe(document.head,{childList:true});setTimeout(()=>document.head.append(document.createElement("meta")),50)</script>`,
		want: []string{"/mutation/a.json"},
	},
	{name: "video", html: `<script>document.body.insertAdjacentHTML("beforeend",'<video preload=metadata poster="/video/a.jpg" src="/video/a.mp4"></video>')</script>`, want: []string{"/video/a.jpg", "/video/a.mp4"}},
	{name: "audio", html: `<script>au=new Audio("/audio/a.mp3");au.preload="auto";au.load()</script>`, want: []string{"/audio/a.mp3"}},
	{name: "SVG use", html: `<script>document.body.insertAdjacentHTML("beforeend",'<svg width=9 height=9><image href="/svg/a.png" width=9 height=9 /><use href="/svg/s.svg#x" /></svg>')</script>`, want: []string{"/svg/a.png", "/svg/s.svg"}},
	{name: "object", html: `<script>document.body.insertAdjacentHTML("beforeend",'<object data="/object/a.svg" type="image/svg+xml"></object>')</script>`, want: []string{"/object/a.svg"}},
	{name: "preload", html: `<script>document.head.insertAdjacentHTML("beforeend",'<link rel=preload as=image href="/preload/a.png">')</script>`, want: []string{"/preload/a.png"}},
	{
		name: "redirected fetch", html: `<script>fetch("/redirect/a").then(r=>r.json()).then(j=>fetch(j.next))</script>`,
		files: map[string]string{"/redirect/a": "302 /redirect/b.json", "/redirect/b.json": `{"next":"/redirect/c.json"}`}, want: []string{"/redirect/a", "/redirect/b.json", "/redirect/c.json"},
	},
	{name: "history", html: `<script>history.replaceState({},"","/spa/state");fetch("rel.json")</script>`, want: []string{"/spa/rel.json"}, alone: true},
	{
		name: "infinite scroll", html: `<div id=list></div><script>n=0;function more(){if(++n>4)return;fetch("/inf/"+n+".json").then(r=>r.json()).then(j=>{for(let i=0;i<10;i++)list.insertAdjacentHTML("beforeend",'<div style="height:300px"><a href="/inf/'+n+'-'+i+'.html">x</a></div>')})};more();addEventListener("scroll",()=>{if(innerHeight+scrollY>=document.documentElement.scrollHeight-200)more()})</script>`,
		files: map[string]string{"/inf/1.json": "{}", "/inf/2.json": "{}", "/inf/3.json": "{}", "/inf/4.json": "{}"},
		want:  []string{"/inf/1.json", "/inf/2.json", "/inf/3.json", "/inf/4.json", "/inf/4-9.html"}, alone: true,
	},
	{
		name: "service worker", html: `<script>navigator.serviceWorker.register("/sw.js").then(()=>navigator.serviceWorker.ready).then(()=>new Promise(r=>navigator.serviceWorker.controller?r():navigator.serviceWorker.oncontrollerchange=r)).then(()=>fetch("/sw/virtual.json")).then(r=>r.json()).then(j=>{(new Image).src=j.img})</script>`,
		files: map[string]string{
			"/sw.js":        `oninstall=e=>{skipWaiting();e.waitUntil(caches.open("a").then(c=>c.addAll(["/sw/cached.css"])))};onactivate=e=>e.waitUntil(clients.claim());onfetch=e=>{if(e.request.url.endsWith("virtual.json"))e.respondWith(fetch("/sw/real.json"))}`,
			"/sw/real.json": `{"img":"/sw/a.png"}`, "/sw/cached.css": ``,
		}, want: []string{"/sw.js", "/sw/cached.css", "/sw/real.json", "/sw/a.png"}, alone: true,
	},
}
