// The service worker of the player. It lets the engine answer requests of archived pages, and adds a policy to each
// answer. It keeps no state and takes no orders: no archived page can change how another page is shown.

// policy allows an archived page everything inside the player, and no other server.
const policy = [
  "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:",
  "connect-src 'self' data: blob:",
  "frame-src 'self' data: blob:",
  "form-action 'self'",
  "object-src 'none'",
  "worker-src 'self' blob:",
  "webrtc 'block'",
].join('; ');

// scriptless also forbids an archived page its scripts.
const scriptless = "sandbox allow-same-origin allow-forms; script-src 'none'; " + policy;

// ownServer allows no connection but to the player. It also ends hints (preconnect), frames before they are refused, and
// WebRTC, which Chromium allows whatever the policy says. Only Chromium obeys it.
const ownServer = '(response-origin)';

// quiet is the first script of each archived page. It removes WebRTC: Chromium ends a page that uses it although it may
// not. Other browsers need it too, but a script can have what is removed from a frame that it makes.
const quiet = `for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'mozRTCPeerConnection'])
  Object.defineProperty(self, name, { value: undefined });`;
const quietFile = 'quiet.js';

addEventListener('message', (event) => event.stopImmediatePropagation());
addEventListener('fetch', (event) => {
  event.stopImmediatePropagation();
  const asked = new URL(event.request.url);
  if (asked.origin !== location.origin) event.respondWith(Response.error());
  else if (asked.pathname === '/static/proxy/' + quietFile)
    event.respondWith(new Response(quiet, { headers: { 'Content-Type': 'text/javascript' } }));
  else if (replayed(asked, event.request.referrer)) event.respondWith(answer(event));
});

// key proves to the player that this worker sends a request. No page can read this file.
const key = '{{KEY}}';

// foreign holds requests whose answer is of another host than the page, other those for which another page is shown.
const foreign = new WeakSet();
const other = new WeakSet();

importScripts('/engine/sw.js');
const engine = self.sw;
const collections = new Map(); // by ticket

// Only these collections exist. The engine's own list of collections is in a store that archived pages can write to.
engine.collections.inited = Promise.resolve(true);
engine.collections.getColl = (ticket) => {
  if (!/^[0-9a-f]+-[0-9a-f]+$/.test(ticket)) return Promise.resolve(null);
  if (!collections.has(ticket)) collections.set(ticket, collection(ticket));
  return collections.get(ticket);
};

// collection returns a collection whose captures the player has.
async function collection(ticket) {
  const config = {
    sourceUrl: '',
    decode: false,
    metadata: {},
    extraConfig: { prefix: `${location.origin}/raw/${ticket}/`, isLive: false, archiveMod: 'id_', injectScripts: [quietFile] },
  };
  const store = await engine.collections._initStore('live', config);
  store.getFetchUrl = (uri, request, headers) => {
    headers.set('X-Player-Worker', key);
    headers.set('X-Player-Destination', request.destination || 'none');
    return `${location.origin}/raw/${ticket}/${uri}`;
  };
  const get = store.getResource.bind(store);
  store.getResource = async (request, ...more) => {
    const got = await get(request, ...more);
    if (got?.headers.get('X-Player-Foreign')) foreign.add(request.request);
    if (got?.headers.get('X-Player-Other')) other.add(request.request);
    return got;
  };
  return engine.collections._createCollection({ name: ticket, store, config });
}

// replayed reports whether a request is one of an archived page, and not of the player itself.
function replayed(asked, referrer) {
  const path = asked.pathname;
  if (path.startsWith('/w/') || path.startsWith('/static/')) return true;
  if (path.startsWith('/open') || path.startsWith('/raw/')) return false;
  return referrer.startsWith(location.origin + '/w/');
}

// policyOf returns the policy of an answer. A frame of another host has an origin of its own, so that the page cannot
// read it; then the engine cannot help it. The last character of a ticket says whether scripts run.
function policyOf(request) {
  if (foreign.has(request)) return 'sandbox; ' + policy;
  const runs = [request.url, request.referrer].some((from) => /^[a-z]+:\/\/[^/]*\/w\/[0-9a-f]+-[0-9a-f]{32}1\//.test(from));
  return runs ? policy : scriptless;
}

// answer returns the engine's answer with our policy.
async function answer(event) {
  // Without the frame of the dashboard, an archived page could leave for another server, and take along what it read.
  if (event.request.destination === 'document')
    return new Response('this page is shown only inside the dashboard; open the version there', { status: 403 });
  const got = new URL(event.request.url).pathname.startsWith('/w/api/')
    ? new Response('', { status: 404 })
    : await engine.handleFetch(event);
  if (got.status === 0) return Response.error();
  if (other.has(event.request)) return fetch('/open-other');
  const headers = new Headers(got.headers);
  headers.set('Content-Security-Policy', policyOf(event.request));
  headers.set('X-DNS-Prefetch-Control', 'off');
  headers.set('Connection-Allowlist', ownServer);
  const empty = [101, 204, 205, 304].includes(got.status) || got.redirected;
  return new Response(empty ? null : got.body, { status: got.status, statusText: got.statusText, headers });
}
