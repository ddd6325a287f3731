// Shows what wabac.js gets from an archive that answers as pywb does: its parts of the player for archives elsewhere.
// Usage: node wabac.mjs PREFIX TOKEN TIMESTAMP/URI…
import { ArchiveRequest, LiveProxy } from "@webrecorder/wabac/swlib";

const [prefix, token, ...wanted] = process.argv.slice(2);
globalThis.self ??= globalThis;
globalThis.location = { href: prefix };

const archive = new LiveProxy({ prefix, isLive: false, archivePrefix: "", archiveMod: "id_" });
for (const want of wanted) {
  const uri = want.slice(want.indexOf("/") + 1);
  const request = new Request(uri, { headers: { Authorization: "Bearer " + token } });
  const got = await archive.getResource(new ArchiveRequest(want.slice(0, want.indexOf("/")) + "id_/" + uri, request), prefix);
  console.log(JSON.stringify({ status: got.status, date: got.date, to: got.headers.get("Location") ?? "", text: (await got.getText()).text }));
}
