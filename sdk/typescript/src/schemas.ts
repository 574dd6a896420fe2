import type { components } from "./openapi.ts";
import type { AnswerOf, BodyOf, Operation, QueryOf } from "./operation.ts";

type Schemas = components["schemas"];

export type Job = Schemas["Job"];
export type JobSummary = Schemas["JobSummary"];
export type JobStatus = Job["status"];
export type SubmitJob = BodyOf<Operation<"post", "/jobs">>;
export type SubmittedJob = Schemas["SubmittedJob"];
export type SubmitBatch = BodyOf<Operation<"post", "/jobs/batch">>;
export type SubmittedBatch = Schemas["SubmittedBatch"];
export type Batch = Schemas["Batch"];
export type Usage = NonNullable<Schemas["Usage"]>;
export type ChatRequest = Schemas["ChatCompletionRequest"];
export type ChatCompletion = Schemas["ChatCompletion"];
export type Cargo = Schemas["Cargo"];
export type CargoDetail = Schemas["CargoDetail"];
export type OwnedCargo = AnswerOf<Operation<"post", "/cargos">>["data"];
export type CreateCargo = BodyOf<Operation<"post", "/cargos">>;
export type ChangeCargo = BodyOf<Operation<"patch", "/cargos/{slug}">>;
export type CargoFilter = QueryOf<Operation<"get", "/cargos">>;
export type Model = Schemas["Model"];
export type EmbeddingsRequest = Omit<Schemas["EmbeddingsRequest"], "encoding_format">;
export type Embeddings = Omit<Schemas["Embeddings"], "data"> & {
  readonly data: readonly {
    readonly object: "embedding";
    readonly index: number;
    readonly embedding: readonly number[];
  }[];
};
export type Conversation = Schemas["Conversation"];
export type CreateConversation = Schemas["CreateConversation"];
export type UpdateConversation = Schemas["UpdateConversation"];
export type Message = Schemas["Message"];
export type AnsweredMessage = Schemas["AnsweredMessage"];
/** Without `stream`, which the method decides. */
export type PostMessage = Omit<Schemas["PostMessage"], "stream">;
export type ApiKey = Schemas["ApiKey"];
export type CreatedApiKey = Schemas["CreatedApiKey"];
export type Island = Schemas["Island"];
export type IslandDetail = Schemas["IslandDetail"];
export interface IslandFilter {
  readonly status?: Island["status"] | undefined;
  readonly pageSize?: number | undefined;
}
export type IslandToken = Schemas["IslandToken"];
export type CreatedIslandToken = AnswerOf<Operation<"post", "/island-tokens">>;
export type PairingCode = Schemas["PairingCode"];
export type Account = Schemas["Account"];
export type ChangePassword = BodyOf<Operation<"post", "/account/password">>;
export type Credentials = BodyOf<Operation<"post", "/auth/login">>;
export type EmailProof = BodyOf<Operation<"post", "/auth/verify">>;
export type ResetPassword = BodyOf<Operation<"post", "/auth/password/reset">>;
/** Without `token` where the session is in a cookie. */
export type StartedSession = Schemas["CookieSession"] & Partial<Pick<Schemas["Session"], "token">>;
export type LedgerLine = Schemas["LedgerLine"];
/** Body of the POST to a job's `webhook_url`. */
export type JobWebhook = Schemas["JobWebhook"];
/** Body of the POST to a batch's `webhook_url`. */
export type BatchWebhook = Schemas["BatchWebhook"];
export type Health = Schemas["Health"];
export type Scope = ApiKey["scopes"][number];
export type CancelledJob = AnswerOf<Operation<"delete", "/jobs/{id}">>["data"];
export type JobOutput = Schemas["JobOutput"];

/** An event of a job: any number of status, token, progress and image, then exactly one `done` or `error`. */
export type JobEvent = Schemas["JobEvent"];
/** What changed for the account. */
export type AccountEvent = Schemas["AccountEvent"];
export type ChatCompletionChunk = Schemas["ChatCompletionChunk"];
/** First event of a conversation's streamed answer: the question, and the job that answers it. */
export type MessageEvent = Schemas["MessageEvent"];
