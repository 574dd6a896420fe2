import { API_BASE } from "../../coordinator/http/http-deps.ts";
import type { Parameter } from "../../coordinator/http/openai/parameters.ts";
import { parameterTable } from "./parameter-tables.ts";

interface QueryParameter {
  readonly in: string;
  readonly name: string;
  readonly description?: string;
  readonly schema: {
    readonly enum?: readonly unknown[];
    readonly minimum?: number;
    readonly maximum?: number;
    readonly default?: unknown;
  };
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly QueryParameter[];
}

/** The part of an OpenAPI document that is used here. */
export interface Operations {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const END = "<!-- end of the generated text -->";

/** Returns texts of operations by method and path, such as `POST /chat/completions`: summary, description and tables of parameters. */
export function operationTexts(
  { paths }: Operations,
  requests: ReadonlyMap<string, Parameter>,
): ReadonlyMap<string, string> {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path.slice(API_BASE.length)}`;
      return [name, textOf(operation, requests.get(name))] as const;
    }),
  );
  return new Map(operations);
}

function textOf({ summary, description, parameters = [] }: Operation, body: Parameter | undefined): string {
  const query = parameters.filter((parameter) => parameter.in === "query");
  const parts = [
    [`${summary}.`, description].filter((text) => text !== undefined).join(" "),
    query.length === 0 ? "" : queryTable(query),
    body === undefined ? "" : parameterTable(body),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function queryTable(parameters: readonly QueryParameter[]): string {
  const rows = parameters.map(({ name, description, schema }) => {
    const values = (schema.enum ?? []).map((value) => `\`${String(value)}\``).join(", ");
    const range = schema.maximum === undefined ? "" : `${schema.minimum ?? 0} to ${schema.maximum}`;
    const standard = schema.default === undefined ? "" : `Default ${JSON.stringify(schema.default)}`;
    const note = [description ?? "", values, range, standard].filter((part) => part !== "").join(". ");
    return `| \`${name}\` | ${note} |`;
  });
  return ["| Query parameter | Note |", "|---|---|", ...rows].join("\n");
}

/**
 * Inserts the text of each operation below its heading, such as `## POST /chat/completions`. Text after the mark is
 * kept.
 */
export function withOperationTexts(document: string, texts: ReadonlyMap<string, string>): string {
  const sections = document.split(/^(?=#)/m).map((section) => {
    const name = /^## ([A-Z]+ \/\S+)\n/.exec(section)?.[1];
    const text = name === undefined ? undefined : texts.get(name);
    if (text === undefined) return section;
    const own = section.includes(END)
      ? section.slice(section.indexOf(END) + END.length)
      : section.slice(`## ${name}\n`.length);
    return `## ${name}\n${text}\n\n${END}${own.trim() === "" ? "\n\n" : own.replace(/^\n*/, "\n\n")}`;
  });
  return `${sections.join("").trimEnd()}\n`;
}
