import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Overview } from "../../../../coordinator/operators/network-view.ts";
import { COORDINATORS } from "../../../support/network/several-coordinators.ts";
import { Api } from "../api.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const get = (path: string) => api.call("GET", path, { key: null });

describe("GET /network", () => {
  it("returns counts over all coordinators, and the kind of registration, to visitors", async () => {
    const metrics = { islands: 2 };
    const coordinators = [{ metrics }, { metrics: null }];
    api.overview = async () => ({ islands: { online: 3, known: 9 }, coordinators }) as unknown as Overview;
    const { status, body } = await get("/network");
    expect([status, body]).toEqual([
      200,
      {
        data: {
          islands_online: 3,
          cargos: [],
          is_complete: false,
          registration: "open",
          new_account_credits: 10,
        },
      },
    ]);
  });

  it("returns 404 if the operator turned it off, and counts towards the limit of the address", async () => {
    await using hidden = await Api.open({ publicPage: null, publicRequestsPerMinute: 1 });
    const ask = async () => (await hidden.call("GET", "/network", { key: null })).status;
    const answers = [];
    for (let i = 0; i <= COORDINATORS; i += 1) answers.push(await ask());
    expect([answers[0], answers.at(-1)]).toEqual([404, 429]);
  });
});
