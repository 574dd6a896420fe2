import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { Atoll } from "../../sdk/typescript/src/index.ts";
import { PYTHON, PYTHON_SOURCES, requirePython } from "./debian-python.ts";

requirePython("httpx");

/** Methods that only the TypeScript client has, with the reason. */
const ONLY_IN_TYPESCRIPT: Readonly<Record<string, string>> = {};
const ONLY_IN_PYTHON: Readonly<Record<string, string>> = {
  "with_options()": "calls of @atoll/client take options",
  "close()": "connections are fetch's in TypeScript",
};

/** Prints the methods of both clients as JSON lists. Attributes that start with "_" are private. */
const LIST_METHODS = `
import asyncio, json
from atoll_client import AsyncAtoll, Atoll

def methods(thing, prefix=""):
    for name in sorted({*dir(type(thing)), *vars(thing)}):
        if name.startswith("_"):
            continue
        value = getattr(thing, name)
        if callable(value):
            yield f"{prefix}{name}()"
        else:
            yield from methods(value, f"{prefix}{name}.")

async def main():
    return list(methods(AsyncAtoll("http://127.0.0.1:1")))

print(json.dumps([list(methods(Atoll("http://127.0.0.1:1"))), asyncio.run(main())]))
`;

describe("atoll-client", () => {
  it("has the methods of @atoll/client, in snake case, sync and async", () => {
    const options = { env: { PYTHONPATH: PYTHON_SOURCES, PYTHONDONTWRITEBYTECODE: "1" }, encoding: "utf8" } as const;
    const [sync = [], async = []] = JSON.parse(execFileSync(PYTHON, ["-c", LIST_METHODS], options)) as string[][];
    const typescript = methodsOf(new Atoll({ baseUrl: "http://127.0.0.1:1" })).map(snakeCase);
    expect(typescript.length).toBeGreaterThan(80);
    expect(typescript.filter((name) => !sync.includes(name) && !(name in ONLY_IN_TYPESCRIPT))).toEqual([]);
    expect(sync.filter((name) => !typescript.includes(name) && !(name in ONLY_IN_PYTHON))).toEqual([]);
    expect(async.map((name) => (name === "aclose()" ? "close()" : name)).toSorted()).toEqual(sync.toSorted());
  });
});

/** Returns the methods of a client or resource, including its resources: "jobs.submit()". */
function methodsOf(thing: object, prefix = ""): string[] {
  const prototype = Object.getPrototypeOf(thing) as object;
  const methods = Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor");
  const resources = Object.entries(thing) as [string, object][];
  return [
    ...methods.map((name) => `${prefix}${name}()`),
    ...resources.flatMap(([name, resource]) => methodsOf(resource, `${prefix}${name}.`)),
  ];
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
