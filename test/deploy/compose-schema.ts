import { z } from "zod";

/**
 * Strict schema of the used part of a Compose file, which rejects misspelt keys. Source: the Compose Specification,
 * https://github.com/compose-spec/compose-spec/blob/main/spec.md.
 */
const text = z.string().min(1);
const duration = z.string().regex(/^(\d+(h|m|s|ms|us))+$/);
const environment = z.record(z.string().regex(/^[A-Z][A-Z0-9_]*$/), z.union([z.string(), z.number(), z.null()]));
const port = z.string().regex(/^(127\.0\.0\.1:)?\d+:\d+$/);
const volume = z.string().regex(/^[^:\s]+:\/[^:\s]+(:ro)?$/);

const service = z.strictObject({
  image: text,
  build: z.strictObject({ context: text, dockerfile: text.optional() }).optional(),
  command: z.union([text, z.array(text)]).optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(text).optional(),
  cap_drop: z.array(z.literal("ALL")).optional(),
  security_opt: z.array(z.literal("no-new-privileges:true")).optional(),
  restart: z.enum(["no", "always", "on-failure", "unless-stopped"]).optional(),
  stop_grace_period: duration.optional(),
  environment: environment.optional(),
  depends_on: z
    .union([
      z.array(text),
      z.record(
        z.string(),
        z.strictObject({ condition: z.enum(["service_started", "service_healthy", "service_completed_successfully"]) }),
      ),
    ])
    .optional(),
  secrets: z.array(text).optional(),
  ports: z.array(port).optional(),
  volumes: z.array(volume).optional(),
  healthcheck: z
    .strictObject({
      test: z.tuple([z.enum(["CMD", "CMD-SHELL"])], text),
      interval: duration.optional(),
      timeout: duration.optional(),
      retries: z.int().positive().optional(),
    })
    .optional(),
});

const file = z
  .object({
    name: z.string().regex(/^[a-z0-9][a-z0-9_-]*$/),
    services: z.record(z.string().regex(/^[a-zA-Z0-9._-]+$/), service),
    volumes: z.record(z.string(), z.null()),
    secrets: z.record(z.string(), z.strictObject({ file: text })).optional(),
  })
  // Fragments for YAML merge keys.
  .catchall(z.unknown())
  .superRefine((value, context) => {
    for (const key of Object.keys(value)) {
      if (["name", "services", "volumes", "secrets"].includes(key) || key.startsWith("x-")) continue;
      context.addIssue({ code: "custom", path: [key], message: "is no key of a Compose file" });
    }
  });

export type ComposeFile = z.infer<typeof file>;

/** @throws {z.ZodError} */
export function readCompose(value: unknown): ComposeFile {
  return file.parse(value);
}
