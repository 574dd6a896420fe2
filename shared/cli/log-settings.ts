import { LOG_LEVELS } from "../logger.ts";
import { setting } from "../settings.ts";

/** `text`: one readable line per entry. `json`: one JSON object per entry. */
const LOG_FORMATS = ["json", "text"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Used by both programs. */
export const LOG_LEVEL_SETTING = setting.choice("log_level", LOG_LEVELS, {
  fallback: "info",
  type: "<level>",
  meaning: `Lowest level that is logged: ${LOG_LEVELS.join(", ")}`,
});

/** Used by both programs. */
export const LOG_FORMAT_SETTING = setting.choice("log_format", LOG_FORMATS, {
  fallback: null,
  unsetMeans: "text on a terminal, otherwise json",
  meaning: "Format of the log: text for people, json for programs",
});
