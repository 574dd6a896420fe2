import { describe, expect, it } from "vitest";
import { Api } from "../api.ts";

describe("GET /openapi.json", () => {
  it("describes every route of the API with its schemas", async () => {
    await using api = await Api.open();
    const { status, body } = await api.call("GET", "/openapi.json", { key: null });
    expect([status, body.openapi, body.info.version]).toEqual([200, "3.1.0", "1.2.3"]);
    const routes = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace("/api/v1", "")}`),
    );
    expect(routes.sort()).toEqual([
      "DELETE /account",
      "DELETE /api-keys/{id}",
      "DELETE /cargos/{slug}",
      "DELETE /conversations/{id}",
      "DELETE /island-tokens/{id}",
      "DELETE /islands/{id}",
      "DELETE /jobs/batch/{id}",
      "DELETE /jobs/{id}",
      "GET /account",
      "GET /account/cargos",
      "GET /account/ledger",
      "GET /api-keys",
      "GET /cargos",
      "GET /cargos/{slug}",
      "GET /conversations",
      "GET /conversations/{id}",
      "GET /docs",
      "GET /events",
      "GET /health",
      "GET /island-tokens",
      "GET /island/earnings",
      "GET /island/recommendations",
      "GET /islands",
      "GET /islands/{id}",
      "GET /jobs",
      "GET /jobs/batch/{id}",
      "GET /jobs/{id}",
      "GET /jobs/{id}/output",
      "GET /jobs/{id}/stream",
      "GET /metrics",
      "GET /models",
      "GET /models/{id}",
      "GET /openapi.json",
      "PATCH /cargos/{slug}",
      "PATCH /conversations/{id}",
      "PATCH /islands/{id}",
      "POST /account/password",
      "POST /api-keys",
      "POST /auth/login",
      "POST /auth/logout",
      "POST /auth/password/forgot",
      "POST /auth/password/reset",
      "POST /auth/register",
      "POST /auth/verify",
      "POST /cargos",
      "POST /chat/completions",
      "POST /conversations",
      "POST /conversations/{id}/messages",
      "POST /embeddings",
      "POST /island-tokens",
      "POST /island-tokens/pairing",
      "POST /island/pair",
      "POST /jobs",
      "POST /jobs/batch",
    ]);
    const { requestBody, security } = body.paths["/api/v1/chat/completions"].post;
    expect([requestBody.content["application/json"].schema, security]).toEqual([
      { $ref: "#/components/schemas/ChatCompletionRequest" },
      [{ bearer: ["write"] }],
    ]);
    expect(body.components.schemas.ChatCompletionRequest.required).toEqual(["messages"]);
  });
});
