// Prints as JSON what npm's datapackage finds wrong with the descriptor that is named.
import datapackage from "datapackage";
import { readFile } from "node:fs/promises";

const descriptor = JSON.parse(await readFile(process.argv[2], "utf8"));
const { valid, errors } = await datapackage.validate(descriptor);
const faults = errors.map(String);
if (!valid && faults.length === 0) faults.push("not valid");
console.log(JSON.stringify(faults));
