// Says that a link of an archived page leads to another one: /w/TICKET/TIMESTAMPmp_/URI. The dashboard opens it.
const [, at, uri] = /^\/w\/[^/]*\/([0-9]*)[a-z_]*\/(.*)$/.exec(location.href.slice(location.origin.length)) || [];
document.getElementById('uri').textContent = uri;
document.querySelector('button').onclick = () => parent.postMessage({ view: uri, at }, '*');
