// Uses the client that openapi-typescript and openapi-fetch make from openapi.yaml.
//
//     node generated.js URL

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const board = "111132323132231222312133";
const pattern = ".......2........33...13.";
const client = createClient<paths>({ baseUrl: process.argv[2] });

const solved = await client.POST("/solve", { body: { board } });
assert.deepEqual(solved.data, { moves: "AC", length: 2, centre: 2 });

const generous = await client.POST("/solve", {
    body: { board, max_depth: 99, timeout_ms: 60_000, heuristic: null, goal: null, explain: null },
});
assert.equal(generous.data?.moves, "AC");

const refused = await client.POST("/solve", { body: { board: "123" } });
assert.equal(refused.data, undefined);
assert.equal(refused.error?.code, "invalid-board");
assert.ok(refused.error?.errors?.[0]?.detail);

const rated = await client.GET("/boards/{board}", { params: { path: { board } } });
assert.equal(rated.data?.distance, 2);
assert.equal(rated.data?.moves.length, 8);

const listed = await client.GET("/boards/{board}/solutions", {
    params: { path: { board }, query: { limit: 1 } },
});
assert.equal(listed.data?.solutions[0]?.moves, "AC");

const replayed = await client.GET("/boards/{board}/replay/{moves}", {
    params: { path: { board: "333113113112222223132321", moves: "ACGB" }, query: { goal: pattern } },
});
assert.equal(replayed.data?.reached_after, 4);

const drawn = await client.GET("/boards/random", { params: { query: { distance: 9, seed: 42 } } });
assert.equal(drawn.data?.distance, 9);

const batch = await client.POST("/solve/batch", {
    body: `"${board}"\n`.repeat(1000),
    bodySerializer: (lines) => lines,
    headers: { "Content-Type": "application/x-ndjson" },
    parseAs: "text",
});
assert.equal(batch.data, '{"moves":"AC","length":2,"centre":2}\n'.repeat(1000));
