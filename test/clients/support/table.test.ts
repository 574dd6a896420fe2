import { join } from "node:path";
import { expect, it } from "vitest";
import { tableOf } from "./table.ts";

it("tableOf() returns a row for each client and API, and a cell for each feature", () => {
  const name = join(import.meta.dirname, "..", "pi", "pi.clients.test.ts");
  const result = (api: string, title: string, status: string) => ({ ancestorTitles: [`pi · ${api}`], title, status });
  const assertionResults = [
    result("responses", "chat", "passed"),
    result("chat", "stream", "failed"),
    result("chat", "429", "skipped"),
  ];
  const rows = tableOf({ testResults: [{ name, assertionResults }] }).split("\n");
  expect(rows.slice(2)).toEqual([
    expect.stringMatching(/^\| pi \| @mariozechner\/pi-coding-agent [\d.]+ \| chat \| – \| fails \| – .* – \|$/),
    expect.stringMatching(/^\| pi \| .* \| responses \| ok \| – .* – \|$/),
    "",
  ]);
});
