// Starts the service worker, then opens the archived version: /open/TICKET/TIMESTAMP/URI.
const says = document.getElementById('says');

async function start() {
  const [, ticket, stamp, uri] = /^\/open\/([^/]*)\/([0-9]*)\/(.*)$/.exec(location.pathname) || [];
  if (!uri) throw new Error('this address names no version; open one in the dashboard');
  if (!('serviceWorker' in navigator))
    throw new Error('the browser shows archived pages only from localhost or over HTTPS; see admin.replay_listen');
  const registration = await navigator.serviceWorker.register('/sw.js', { updateViaCache: 'none' });
  await registration.update(); // a worker from before the daemon's last start has another key
  await navigator.serviceWorker.ready;
  const next = registration.installing || registration.waiting;
  if (next)
    await new Promise((ready) => {
      next.onstatechange = () => ['activated', 'redundant'].includes(next.state) && ready();
      next.onstatechange();
    });
  location.replace(`/w/${ticket}/${stamp}mp_/${uri}${location.search}`);
}

start().catch((fault) => {
  says.textContent = 'The version cannot be shown: ' + fault.message;
});
