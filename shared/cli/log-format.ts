import { setting } from "../settings.ts";

/** `text`: one readable line each, for people. `json`: one object each, for machines. */
const LOG_FORMATS = ["json", "text"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** The same for both programs. */
export const LOG_FORMAT_SETTING = setting.choice("log_format", LOG_FORMATS, {
  fallback: null,
  unsetMeans: "text at a terminal, json elsewhere",
  meaning: "How the log is written: text for people, json for machines",
});
