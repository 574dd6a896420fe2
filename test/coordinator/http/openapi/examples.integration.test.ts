import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { currentDocument } from "../../../support/openapi.ts";
import { TestCoordinator } from "../../../support/test-coordinator.ts";

const EMAIL = "reader@example.com";
const requests = Object.entries(currentDocument().paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([, { requestBody }]) => requestBody?.content["application/json"] !== undefined)
    .map(([method, { requestBody, responses }]) => ({
      name: `${method} ${path}`,
      method: method.toUpperCase(),
      path,
      example: requestBody?.content["application/json"]?.example,
      success: Object.keys(responses).filter((status) => status.startsWith("2")),
    })),
);

/** Understood, but refused to this caller: they need a session, an e-mail transport, or a token, Island or file that exists. */
const REFUSED: Readonly<Record<string, string>> = {
  "delete /api/v1/account": "400",
  "patch /api/v1/account": "400",
  "patch /api/v1/api-keys/{id}": "404",
  "post /api/v1/auth/email": "400",
  "post /api/v1/account/password": "400",
  "post /api/v1/auth/password/forgot": "403",
  "post /api/v1/auth/password/reset": "400",
  "post /api/v1/island/pair": "404",
  "patch /api/v1/islands/{id}": "404",
  "post /api/v1/batches": "422",
  "post /api/v1/jobs/{id}/input": "404",
};

/** In the order of the document, in which what is made comes before what changes it. */
describe("An example request of the document", () => {
  let coordinator: TestCoordinator;
  let key: string;
  beforeAll(async () => {
    coordinator = await TestCoordinator.open({ chatWaitS: "0.02" });
    ({ key } = await coordinator.createAccount(EMAIL));
  });
  afterAll(() => coordinator[Symbol.asyncDispose]());

  async function send(method: string, path: string, body: unknown) {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const answer = await fetch(coordinator.url + path, { method, headers, body: JSON.stringify(body) });
    return { status: String(answer.status), text: await answer.text() };
  }

  // A proof of an address is only in a mail.
  it.each(requests.filter(({ path }) => path !== "/api/v1/auth/verify"))(
    "is taken as it is: $name",
    async ({ name, method, path, example, success }) => {
      const conversation = path.includes("{id}")
        ? JSON.parse((await send("POST", "/api/v1/conversations", {})).text)
        : {};
      const filled = path.replace("{id}", conversation.data?.id).replace("{slug}", "my-words");
      const { status, text } = await send(method, filled, example);
      const isWithoutIsland = status === "503" && JSON.parse(text).error.code === "no_island_available";
      // Of an operator they are tried in their own tests.
      const refused = path.includes("/operator/") ? "403" : REFUSED[name];
      expect(isWithoutIsland || status === refused || success.includes(status) ? [] : [status, text]).toEqual([]);
    },
  );

  it("is there for every request", () => {
    expect(requests.length).toBeGreaterThan(10);
    expect(requests.filter(({ example }) => example === undefined).map(({ name }) => name)).toEqual([]);
  });
});
