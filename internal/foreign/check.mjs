// Reads WARC files with warcio and prints what it sees, one JSON line for each record, then one line with "end" for each
// file. Usage: node check.mjs FILE...
import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import { AsyncIterReader, WARCParser } from "warcio";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

// digest is "sha1:" and Base32. A SHA-1 sum has 160 bits, so no padding is needed.
function digest(bytes) {
  let bits = "";
  for (const b of createHash("sha1").update(bytes).digest()) bits += b.toString(2).padStart(8, "0");
  return "sha1:" + bits.match(/.{5}/g).map((five) => alphabet[parseInt(five, 2)]).join("");
}

// warcio reports a wrong Content-Length only to the console.
let warnings = [];
console.warn = (...words) => warnings.push(words.join(" "));

const open = (file, parseHttp) => new WARCParser(createReadStream(file), { keepHeadersCase: true, parseHttp });

function describe(file, record) {
  const header = (name) => record.warcHeader(name) ?? "";
  return {
    file: basename(file),
    version: record.warcHeaders.statusline,
    type: header("WARC-Type"),
    id: header("WARC-Record-ID"),
    target: header("WARC-Target-URI"),
    date: header("WARC-Date"),
    contentType: header("Content-Type"),
    contentLength: Number(header("Content-Length")),
    ip: header("WARC-IP-Address"),
    warcinfo: header("WARC-Warcinfo-ID"),
    concurrentTo: record.warcConcurrentTo,
    profile: header("WARC-Profile"),
    refersTo: header("WARC-Refers-To"),
    refersToTarget: header("WARC-Refers-To-Target-URI"),
    refersToDate: header("WARC-Refers-To-Date"),
    truncated: header("WARC-Truncated"),
    blockDigest: header("WARC-Block-Digest"),
    payloadDigest: header("WARC-Payload-Digest"),
    errors: [],
  };
}

// blocks reads all records without looking into them.
async function blocks(file) {
  const records = [];
  const parser = open(file, false);
  for (let record; (record = await parser.parse()) !== null; ) {
    const block = await record.readFully(false);
    const out = describe(file, record);
    out.block = Buffer.from(block).toString("base64");
    out.computedBlock = digest(block);
    if (block.length !== out.contentLength) out.errors.push(`block has ${block.length} bytes, not ${out.contentLength}`);
    const needless = block.length === 0 && out.blockDigest === "";
    if (!needless && out.blockDigest !== out.computedBlock) out.errors.push(`block digest is ${out.computedBlock}`);
    await record.skipFully();
    out.offset = parser.offset;
    records.push(out);
  }
  return records;
}

// payloads reads the file anew, with warcio's HTTP parser, and digests each body with its transfer encoding undone.
async function payloads(file, records) {
  const parser = open(file, true);
  let i = 0;
  for (let record; (record = await parser.parse()) !== null; i++) {
    const out = records[i];
    // warcio parses each response as HTTP, that of a look-up of a name too.
    if (record.httpHeaders && out.contentType.startsWith("application/http")) {
      out.status = record.httpHeaders.statusline;
      if (out.type !== "revisit") {
        const body = await record.readFully(false);
        const chunked = record.httpHeaders.headers.get("Transfer-Encoding") === "chunked"; // as warcio has it
        const payload = chunked ? await new AsyncIterReader([body], null, true).readFully() : body;
        out.payloadLength = payload.length;
        out.computedPayload = digest(payload);
        if (out.payloadDigest && out.payloadDigest !== out.computedPayload)
          out.errors.push(`payload digest is ${out.computedPayload}`);
      }
    }
    await record.skipFully();
  }
  if (i !== records.length) throw new Error(`${records.length} records, but ${i} with HTTP parsing`);
}

// lengths tells each record's compressed length: warcio knows it only when the next record begins.
function lengths(file, records) {
  const size = statSync(file).size;
  records.forEach((r, i) => (r.length = (i + 1 < records.length ? records[i + 1].offset : size) - r.offset));
}

for (const file of process.argv.slice(2)) {
  warnings = [];
  let records = [];
  try {
    records = await blocks(file);
    lengths(file, records);
    await payloads(file, records);
  } catch (e) {
    warnings.push(String(e));
  }
  for (const r of records) process.stdout.write(JSON.stringify(r) + "\n");
  process.stdout.write(JSON.stringify({ end: basename(file), warnings, count: records.length }) + "\n");
}
