import type { components } from "./openapi.ts";
import type { AnswerOf, BodyOf, Operation, QueryOf } from "./operation.ts";

type Schemas = components["schemas"];

export type Job = Schemas["Job"];
export type JobSummary = Schemas["JobSummary"];
/** A job in a list, with its input if it is at most 4 KB. */
export type ListedJob = Schemas["ListedJob"];
export type JobStatus = Job["status"];
export type SubmitJob = BodyOf<Operation<"post", "/jobs">>;
export type SubmittedJob = Schemas["SubmittedJob"];
export type SubmitBatch = BodyOf<Operation<"post", "/jobs/batch">>;
export type SubmittedBatch = Schemas["SubmittedBatch"];
export type Batch = Schemas["Batch"];
export type CreateFileBatch = Schemas["CreateFileBatch"];
export type FileBatch = Schemas["FileBatch"];
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
export type RerankRequest = Schemas["RerankRequest"];
export type Reranking = Schemas["Reranking"];
export type File = Schemas["File"];
export type ModerationRequest = Schemas["ModerationRequest"];
export type Moderation = Schemas["Moderation"];
export type ImagesRequest = Schemas["ImagesRequest"];
export type Images = Schemas["Images"];
export type Transcription = Schemas["Transcription"];
export type SpeechRequest = Schemas["SpeechRequest"];
export type Conversation = Schemas["Conversation"];
export type CreateConversation = Schemas["CreateConversation"];
export type UpdateConversation = Schemas["UpdateConversation"];
export type Message = Schemas["Message"];
export type AnsweredMessage = Schemas["AnsweredMessage"];
/** Body of a new message, without `stream`, which the method sets. */
export type PostMessage = Omit<Schemas["PostMessage"], "stream">;
export type ApiKey = Schemas["ApiKey"];
export type CreatedApiKey = Schemas["CreatedApiKey"];
export type ChangeApiKey = BodyOf<Operation<"patch", "/api-keys/{id}">>;
export type Island = Schemas["Island"];
export type Availability = AnswerOf<Operation<"get", "/availability">>;
export type IslandDetail = Schemas["IslandDetail"];
/** An Island's work on a UTC day. */
export type IslandDay = Schemas["IslandDay"];
export interface IslandFilter {
  readonly status?: Island["status"] | undefined;
  readonly pageSize?: number | undefined;
}
export type IslandToken = Schemas["IslandToken"];
export type CreatedIslandToken = AnswerOf<Operation<"post", "/island-tokens">>;
export type PairingCode = Schemas["PairingCode"];
export type Account = Schemas["Account"];
export type ChangeAccount = Schemas["ChangeAccount"];
/**
 * Result of a change. `pending_email` is the new address, which takes effect only once the token mailed to it is used.
 */
export type ChangedAccount = AnswerOf<Operation<"patch", "/account">>["data"];
export type AccountSession = Schemas["AccountSession"];
export type UsageLine = Schemas["UsageLine"];
export type UsagePage = AnswerOf<Operation<"get", "/account/usage">>;
export interface UsageFilter {
  /** First day, in UTC ("2026-01-31"). Default: 29 days before the last day. */
  readonly from?: string | undefined;
  /** Last day. Default: today. */
  readonly to?: string | undefined;
  /** Members by which lines are grouped, in addition to their kind. Default: all three. */
  readonly by?: readonly ("day" | "workload" | "api_key")[] | undefined;
  readonly kind?: UsageLine["kind"] | undefined;
  /** Slug of a Cargo. */
  readonly workload?: string | undefined;
  /** Id of an API key. */
  readonly apiKey?: string | undefined;
}
export type ChangePassword = BodyOf<Operation<"post", "/account/password">>;
export type Credentials = BodyOf<Operation<"post", "/auth/login">>;
export type EmailProof = BodyOf<Operation<"post", "/auth/verify">>;
export type ResetPassword = BodyOf<Operation<"post", "/auth/password/reset">>;
/** A new session, without `token` if the session is in a cookie. */
export type StartedSession = Schemas["CookieSession"] & Partial<Pick<Schemas["Session"], "token">>;
export type LedgerLine = Schemas["LedgerLine"];
/** Body of the POST to a job's `webhook_url`. */
export type JobWebhook = Schemas["JobWebhook"];
/** Body of the POST to a batch's `webhook_url`. */
export type BatchWebhook = Schemas["BatchWebhook"];
export type Health = Schemas["Health"];
/** Public facts of the network. */
export type Network = Schemas["Network"];
/** Packages that the coordinator serves to hosts and clients. */
export type Downloads = Schemas["Downloads"];
export type Announcement = Schemas["Announcement"];
/** A new announcement. `level` defaults to information. */
export type AddAnnouncement = Omit<Schemas["AddAnnouncement"], "level"> &
  Partial<Pick<Schemas["AddAnnouncement"], "level">>;
export type NetworkOverview = Schemas["NetworkOverview"];
export type QueueLine = Schemas["QueueLine"];
export type NetworkQueue = AnswerOf<Operation<"get", "/operator/queue">>;
export type SettingInForce = Schemas["SettingInForce"];
export type AuditLine = Schemas["AuditLine"];
export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** Id of the target of the action. */
  readonly target?: string | undefined;
  readonly pageSize?: number | undefined;
}
export type KnownAccount = Schemas["KnownAccount"];
export type KnownAccountDetail = Schemas["KnownAccountDetail"];
export type AccountLimits = Schemas["AccountLimits"];
export type SetAccountLimits = Schemas["SetAccountLimits"];
export interface KnownAccountFilter {
  readonly search?: string | undefined;
  readonly role?: KnownAccount["role"] | undefined;
  readonly suspended?: boolean | undefined;
  readonly pageSize?: number | undefined;
}
export type KnownIsland = Schemas["KnownIsland"];
export type KnownIslandDetail = Schemas["KnownIslandDetail"];
export interface KnownIslandFilter {
  readonly search?: string | undefined;
  /** Id of an account. */
  readonly account?: string | undefined;
  readonly status?: "online" | "offline" | "suspended" | undefined;
  readonly pageSize?: number | undefined;
}
export type KnownJob = Schemas["KnownJob"];
export type Standing = Schemas["Standing"];
export type StandingState = Standing["state"];
export type KnownStanding = Schemas["KnownStanding"];
export type SetStanding = Schemas["SetStanding"];
export interface StandingFilter {
  /** Id of an account. */
  readonly account?: string | undefined;
  readonly state?: StandingState | undefined;
  readonly pageSize?: number | undefined;
}
export interface KnownJobFilter {
  readonly status?: readonly JobStatus[] | undefined;
  readonly workload?: string | undefined;
  readonly account?: string | undefined;
  readonly island?: string | undefined;
  readonly pageSize?: number | undefined;
}
export type KnownCargo = Schemas["KnownCargo"];
export type CargoReview = Schemas["CargoReview"];
export type AddModel = Schemas["AddModel"];
export type AddedModel = Schemas["AddedModel"];
export type CargoPins = Schemas["CargoPins"];
export type ApproveCargo = Schemas["ApproveCargo"];
export interface KnownCargoFilter {
  readonly status?: KnownCargo["status"] | undefined;
  readonly pageSize?: number | undefined;
}
export type Scope = ApiKey["scopes"][number];
export type CancelledJob = AnswerOf<Operation<"delete", "/jobs/{id}">>["data"];
export type JobOutput = Schemas["JobOutput"];
/** One JSON value as `data`, or `end: true`. */

/** An event of a job. A stream has any number of status, token, progress and image events, then exactly one `done` or `error`. */
export type JobEvent = Schemas["JobEvent"];
/** A change of the account. */
export type AccountEvent = Schemas["AccountEvent"];
export type ChatCompletionChunk = Schemas["ChatCompletionChunk"];
/** First event of a conversation's streamed answer, with the question and the job that answers it. */
export type MessageEvent = Schemas["MessageEvent"];
