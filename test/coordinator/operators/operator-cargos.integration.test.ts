import { describe, expect, it } from "vitest";
import type { OperatorCargos } from "../../../coordinator/operators/operator-cargos.ts";
import { CHAT_FILE, ONNX_FILE } from "../catalog/cargo-builders.ts";
import {
  as,
  asOperator,
  OFFERED,
  openForEachTest,
  OPERATOR,
  operate,
  other,
  owner,
  post,
  statusOf,
  submit,
} from "../catalog/owned-cargos.ts";

openForEachTest();

describe("operatorCargos()", () => {
  it("lists all Cargos with their status", async () => {
    await post();
    await post({ ...ONNX_FILE, slug: "off", enabled: false });
    const lines = await asOperator(async (cargos) => {
      await cargos.setDisabled(OPERATOR, "phi-4", true);
      await cargos.importFile(OPERATOR, JSON.stringify({ ...ONNX_FILE, slug: "ours" }));
      return cargos.list();
    });
    const states = lines.map(({ slug, status, origin }) => `${slug} ${status} ${origin}`);
    expect(states).toEqual(
      expect.arrayContaining([
        "some-onnx waiting owned",
        "off off owned",
        "phi-4 disabled shipped",
        "ours offered imported",
        "tiny-chat offered shipped",
      ]),
    );
  });

  it("does not approve a Cargo that its owner changed after the review", async () => {
    await post();
    const review = await asOperator((cargos) => cargos.review("some-onnx"));
    await as(owner, "PATCH", "/cargos/some-onnx", { model: { ...ONNX_FILE.model, url: "hf:owner/evil" } });
    const stale = asOperator((cargos) => cargos.approveReviewed(OPERATOR, review, review.file));
    await expect(stale).rejects.toMatchObject({ code: "bad_request" });
    expect(await statusOf("/cargos/some-onnx")).toBe(404);
  });

  it("imports Cargos for all accounts, and replaces an imported Cargo", async () => {
    const price = async () => (await as(null, "GET", "/cargos/ours")).body.data?.price_per_job;
    for (const price_per_job of [1, 2]) {
      const text = JSON.stringify({ ...ONNX_FILE, slug: "ours", price_per_job });
      await operate(
        (cargos) => cargos.importFile(OPERATOR, text),
        async () => (await price()) === price_per_job,
      );
    }
    expect((await submit(other, { ...OFFERED, workload: "ours" })).status).toBe(201);
  });

  it("rejects foreign slugs, invalid files and unknown Cargos", async () => {
    await post();
    const codes: string[] = [];
    const acts: ((cargos: OperatorCargos) => Promise<unknown>)[] = [
      (cargos) => cargos.importFile(OPERATOR, JSON.stringify(ONNX_FILE)),
      (cargos) => cargos.importFile(OPERATOR, JSON.stringify({ ...CHAT_FILE, slug: "tiny-chat" })),
      (cargos) => cargos.importFile(OPERATOR, "{"),
      (cargos) => cargos.review("none"),
      (cargos) => cargos.setDisabled(OPERATOR, "none", true),
    ];
    for (const act of acts) {
      await asOperator(act).catch((error: { code: string }) => codes.push(error.code));
    }
    expect(codes).toEqual(["slug_taken", "slug_taken", "validation_failed", "cargo_not_found", "cargo_not_found"]);
  });
});
