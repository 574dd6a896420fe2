import { _, type Ajv, type KeywordErrorDefinition } from "ajv";
import type { DataValidateFunction } from "ajv/dist/types/index.js";
import { sortedJson } from "../../shared/canonical-json.ts";
import { jsonSetOf } from "../../shared/json-set.ts";

const enumError: KeywordErrorDefinition = {
  message: "must be equal to one of the allowed values",
  params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
};
const constError: KeywordErrorDefinition = {
  message: "must be equal to constant",
  params: ({ schemaCode }) => _`{allowedValue: ${schemaCode}}`,
};

/**
 * Replaces the keywords `enum`, `const` and `uniqueItems`, for which ajv compares each value with each member or other
 * item. These take linear time and have the same results and messages.
 */
export function addHashedKeywords(compiler: Ajv): void {
  for (const keyword of ["enum", "const", "uniqueItems"]) compiler.removeKeyword(keyword);
  compiler.addKeyword({
    keyword: "enum",
    schemaType: "array",
    error: enumError,
    compile(members: readonly unknown[]): DataValidateFunction {
      if (members.length === 0) throw new Error("enum must have non-empty array");
      const set = jsonSetOf(members);
      return (value) => set.has(value);
    },
  });
  compiler.addKeyword({
    keyword: "const",
    error: constError,
    compile(member: unknown): DataValidateFunction {
      const set = jsonSetOf([member]);
      return (value) => set.has(value);
    },
  });
  compiler.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    compile(isUnique: boolean): DataValidateFunction {
      const check: DataValidateFunction = (value) => {
        const pair = isUnique ? equalPair(value as readonly unknown[]) : null;
        if (pair === null) return true;
        const [j, i] = pair;
        const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`;
        check.errors = [{ keyword: "uniqueItems", message, params: { i, j } }];
        return false;
      };
      return check;
    },
  });
}

/** Returns the indexes of two equal items, the smaller one first; null if all items differ. */
function equalPair(items: readonly unknown[]): readonly [number, number] | null {
  const scalars = new Map<unknown, number>();
  const texts = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const isScalar = typeof item !== "object" || item === null;
    const known: Map<unknown, number> = isScalar ? scalars : texts;
    const key = isScalar ? item : sortedJson(item);
    const before = known.get(key);
    if (before !== undefined) return [before, index];
    known.set(key, index);
  }
  return null;
}
