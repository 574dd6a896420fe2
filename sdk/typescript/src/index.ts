/** The public API of the package. Everything else may change without notice. */
export type { EventOptions, OfflineEvent, ToldEvent } from "./resources/account-events.ts";
export { Atoll } from "./atoll.ts";
export type { AtollOptions, CallOptions } from "./settings.ts";
export type { Backoff } from "./retries.ts";
export {
  AtollError,
  AuthenticationError,
  ConfigurationError,
  ConnectionError,
  InsufficientCreditsError,
  NotFoundError,
  PermissionDeniedError,
  ProtocolError,
  RateLimitError,
  ServerError,
  ServiceUnavailableError,
  TimeoutError,
  ValidationError,
  type FieldError,
} from "./errors.ts";
export type { FileBatchFilter } from "./resources/file-batches.ts";
export type { FileFilter, NewFile } from "./resources/files.ts";
export { JobFailedError } from "./job-failed-error.ts";
export { UsagePages } from "./resources/account.ts";
export type { TranscriptionOptions, TranslationOptions } from "./resources/audio.ts";
export type { NewApiKey } from "./resources/api-keys.ts";
export type { GetBatchOptions } from "./resources/batches.ts";
export type { ChatBody } from "./resources/chat.ts";
export type { MessageFilter } from "./resources/conversations.ts";
export type { JobFilter, SubmitOptions } from "./resources/jobs.ts";
export type { GrantOptions } from "./resources/operator-accounts.ts";
export type { RestartEvent, StreamedEvent } from "./job-events.ts";
export type { StreamOptions } from "./job-stream.ts";
export type { WaitOptions } from "./job-wait.ts";
export type { Page, Pages } from "./pages.ts";
export type * from "./schemas.ts";
export type { calls, components } from "./openapi.ts";
