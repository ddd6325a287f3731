// Prints as JSON what DuckDB answers to a query.
import { DuckDBInstance } from "@duckdb/node-api";

const db = await DuckDBInstance.create(":memory:");
const connection = await db.connect();
const answer = await connection.runAndReadAll(process.argv[2]);
console.log(JSON.stringify(answer.getRowsJson()));
