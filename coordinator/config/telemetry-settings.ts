import { setting } from "../../shared/settings.ts";

/** What leaves the coordinator for those who watch it. */
export const TELEMETRY_SETTINGS = {
  metricsToken: setting.text("metrics_token", {
    fallback: null,
    isSecret: true,
    unsetMeans: "metrics are open if only this machine can reach the coordinator, and off elsewhere",
    meaning: "Token that /metrics asks for, as Authorization: Bearer",
  }),
  tracesUrl: setting.url("traces_url", {
    fallback: null,
    unsetMeans: "no traces are made",
    meaning: "Collector that traces of jobs are sent to, by OTLP over HTTP, without /v1/traces",
  }),
  tracesShare: setting.number("traces_share", {
    min: 0,
    max: 1,
    fallback: 1,
    meaning: "Share of the jobs that are traced; a client's traceparent decides for its own",
  }),
};
