// Generated from the coordinator's OpenAPI document by `npm run generate`. Not for editing.

export interface components {
    schemas: {
        Account: {
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            /** Credits, with up to 6 decimals */
            credits: number;
            email: string;
            id: string;
            role: "user" | "operator";
        };
        /** The account's e-mail address, role, limits, API keys, sessions or Island tokens changed. The event carries `data` of GET /account. Reload any keys, sessions or tokens that you display */
        AccountChangedEvent: {
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            /** Credits, with up to 6 decimals */
            credits: number;
            email: string;
            id: string;
            role: "user" | "operator";
            type: "account";
        };
        /** A change; `type` is the name of the event */
        AccountEvent: components["schemas"]["ResetEvent"] | components["schemas"]["JobChangedEvent"] | components["schemas"]["IslandChangedEvent"] | components["schemas"]["IslandRemovedEvent"] | components["schemas"]["BalanceEvent"] | components["schemas"]["AccountChangedEvent"] | components["schemas"]["OverviewEvent"];
        AccountLimits: {
            /** Maximum number of unfinished jobs */
            concurrent_jobs: number;
            /** Maximum number of open streams */
            concurrent_streams: number;
            /** Maximum requests of each key and each session */
            requests_per_minute: number;
            /** Weight of the account when slot time is shared between accounts */
            share: number;
        };
        AccountSession: {
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            /** Whether this is the session of the request */
            current: boolean;
            /** Time in UTC, as ISO 8601 */
            expires_at: string;
            id: string;
            /** Time in UTC, as ISO 8601, accurate to a minute; null if the session was never used */
            last_used_at: string | null;
        };
        AddAnnouncement: {
            level?: "info" | "warning";
            text: string;
            /** When the announcement expires. If omitted or null, it is shown until an operator removes it */
            until?: string | null;
        };
        AddedModel: {
            added: boolean;
            architecture: string;
            /** The whole definition; see docs/reference/cargo-format.md */
            cargo: {
                [key: string]: unknown;
            };
            /** Commit of the repository; null unless the model is on the hub */
            commit: string | null;
            /** Whether Islands need a models.hub_token whose account has accepted the terms */
            gated: boolean;
            islands: components["schemas"]["ModelIslands"];
            licence: string;
            revision: string;
            slug: string;
            source: string;
            trained_context_tokens: number;
        };
        AddModel: {
            /** Default: 4,096, or less if the model was trained for less */
            context_tokens?: number;
            /** True: look up the model, and add nothing */
            dry_run?: boolean;
            /** Default: by the number of parameters */
            price_per_job?: number;
            /** False: without the projector for images */
            projector?: boolean;
            /** `revision` of a preview; the model is added only if it still has it */
            revision?: string;
            /** Concurrent jobs for which memory is computed; default 4 */
            slots?: number;
            /** Default: from the name of the model */
            slug?: string;
            /** hf.co/USER/REPO[:QUANT], an address of a file on the hub, or ollama:NAME[:TAG] */
            source: string;
        };
        Announcement: {
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            id: string;
            level: "info" | "warning";
            /** Plain text */
            text: string;
            /** When the announcement expires; null if it is shown until an operator removes it */
            until: string | null;
        };
        AnsweredMessage: {
            job_id: string;
            message: components["schemas"]["Message"];
            usage: components["schemas"]["Usage"];
            user_message: components["schemas"]["Message"];
        };
        AnthropicMessage: {
            content: ({
                /** Always empty */
                signature: string;
                thinking: string;
                type: "thinking";
            } | {
                text: string;
                type: "text";
            } | {
                id: string;
                input: {
                    [key: string]: unknown;
                };
                name: string;
                type: "tool_use";
            })[];
            id: string;
            model: string;
            role: "assistant";
            /** `end_turn` is also returned if a stop sequence ended the response and the Island did not report which one */
            stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | null;
            stop_sequence: string | null;
            type: "message";
            usage: {
                cache_creation_input_tokens: null;
                cache_read_input_tokens: null;
                /** Credits that were charged; absent in `message_start` */
                cost?: number;
                input_tokens: number;
                output_tokens: number;
            };
        };
        AnthropicMessageEvent: {
            message: components["schemas"]["AnthropicMessage"];
            type: "message_start";
        } | {
            type: "ping";
        } | {
            content_block: {
                /** Always empty */
                signature: string;
                thinking: string;
                type: "thinking";
            } | {
                text: string;
                type: "text";
            } | {
                id: string;
                input: {
                    [key: string]: unknown;
                };
                name: string;
                type: "tool_use";
            };
            index: number;
            type: "content_block_start";
        } | {
            delta: {
                text: string;
                type: "text_delta";
            } | {
                thinking: string;
                type: "thinking_delta";
            } | {
                signature: string;
                type: "signature_delta";
            } | {
                partial_json: string;
                type: "input_json_delta";
            };
            index: number;
            type: "content_block_delta";
        } | {
            index: number;
            type: "content_block_stop";
        } | {
            delta: {
                stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use";
                stop_sequence: string | null;
            };
            type: "message_delta";
            usage: {
                cache_creation_input_tokens: null;
                cache_read_input_tokens: null;
                /** Credits that were charged; absent in `message_start` */
                cost?: number;
                input_tokens: number;
                output_tokens: number;
            };
        } | {
            type: "message_stop";
        } | {
            error: {
                code: string;
                message: string;
                retryable: boolean;
                type: string;
            };
            type: "error";
        };
        ApiKey: {
            cargos: string[] | null;
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            /** Credits, with up to 6 decimals */
            credits_per_month: number | null;
            /** Credits that the key has spent this month; null for a key without `credits_per_month` */
            credits_this_month: number | null;
            /** Time in UTC, as ISO 8601 */
            expires_at: string | null;
            id: string;
            /** Time in UTC, as ISO 8601 */
            last_used_at: string | null;
            name: string;
            prefix: string;
            scopes: ("read" | "write")[];
            /** Trust of jobs that name none in their request; null for `any` */
            trust: "any" | "proven" | "own" | null;
        };
        ApproveCargo: {
            /** Digest (sha256:…) of the image's manifest */
            image_digest?: string;
            /** Commit of the model's folder on the hub */
            model_commit?: string;
            /** SHA-256 of the model's file or `files.json`, in hexadecimal */
            model_hash?: string;
            revision: string;
        };
        AuditLine: {
            /** Name of the action, which ends in `.failed` if the action was refused */
            action: string;
            /** The operator's account; for a command, the user of the operating system */
            actor: string;
            /** Null for a command and for a deleted account */
            actor_email: string | null;
            /** Values that the action set, the error of a refused action, or null */
            after?: unknown;
            /** Time in UTC, as ISO 8601 */
            at: string;
            /** Values before the action, or null */
            before?: unknown;
            /** Id of the entry; increases with time */
            id: number;
            /** The client's address; for a command, the machine's name */
            origin: string;
            target: {
                id: string;
                kind: "account" | "announcement" | "cargo" | "coordinator" | "island" | "job";
            };
            via: "api" | "command";
        };
        AvailableCargo: {
            /** Number of these Islands that have a free slot */
            free: number;
            /** Number of connected Islands that can run the Cargo */
            islands: number;
            /** Number of these Islands that need no download first */
            ready: number;
            slug: string;
        };
        /** The balance changed. `balance` is `credits` of GET /account */
        BalanceEvent: {
            /** Credits, with up to 6 decimals */
            balance: number;
            type: "balance";
        };
        Batch: {
            /** Time in UTC, as ISO 8601 */
            completed_at: string | null;
            counts: components["schemas"]["BatchCounts"];
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            fail_mode: "best_effort" | "fail_fast";
            id: string;
            /** Jobs, in the order of the inputs */
            jobs: components["schemas"]["BatchJob"][];
            /** `output_offset` of the next request, present only with `include=output`; null if there are no further outputs */
            next_output_offset?: number | null;
            priority: number;
            /** `pending` means that no job has started. `failed` means that all jobs have ended and at least one failed or timed out */
            status: "pending" | "running" | "completed" | "failed" | "cancelled";
            webhook: components["schemas"]["WebhookLog"] | null;
            workload_id: number;
            workload_slug: string;
        };
        BatchCounts: {
            cancelled: number;
            completed: number;
            failed: number;
            pending: number;
            queued: number;
            running: number;
            timeout: number;
            total: number;
        };
        BatchJob: {
            /** Why the job failed or timed out; present only with `include=output` */
            error?: {
                code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
                message: string;
                retryable: boolean;
            } | null;
            id: string;
            /** Output of the job, present only with `include=output` and from job `output_offset` on. Null if the job is not completed, or its output was removed or omitted */
            output?: unknown;
            /** Present if the output has more than 65536 characters as JSON. Read it from GET /jobs/{id} */
            output_omitted?: true;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
        };
        BatchWebhook: {
            data: {
                /** Time in UTC, as ISO 8601 */
                completed_at: string | null;
                counts: components["schemas"]["BatchCounts"];
                /** Time in UTC, as ISO 8601 */
                created_at: string;
                fail_mode: "best_effort" | "fail_fast";
                id: string;
                /** Jobs, in the order of the inputs */
                jobs: components["schemas"]["BatchJob"][];
                /** `output_offset` of the next request, present only with `include=output`; null if there are no further outputs */
                next_output_offset?: number | null;
                priority: number;
                /** `pending` means that no job has started. `failed` means that all jobs have ended and at least one failed or timed out */
                status: "pending" | "running" | "completed" | "failed" | "cancelled";
                workload_id: number;
                workload_slug: string;
            };
            /** Time in UTC, as ISO 8601 */
            timestamp: string;
            type: "batch.finished";
        };
        CandidateCost: {
            /** Prompt tokens that are expected to be in the Island's cache */
            cached_tokens: number;
            /** Expected cost: (the sum of the times + `slowdown_ms`) * `risk` */
            cost_ms: number;
            island_id: string;
            /** Time to download and load the model */
            load_ms: number;
            /** Time to read the prompt, or to run a job without tokens */
            read_ms: number;
            /** Factor for the Island's failures, at least 1 */
            risk: number;
            /** Round trip to the Island */
            rtt_ms: number;
            /** Delay of the jobs that already run there */
            slowdown_ms: number;
            /** Time until a slot is free */
            wait_ms: number;
            /** Time to generate the output */
            write_ms: number;
        };
        Cargo: {
            category: "llm" | "image" | "audio" | "vision" | "text" | "utility";
            /** Whether chat completions accept the Cargo as `model` */
            chat: boolean;
            /** Maximum number of tokens in prompt and completion; null if not set */
            context_tokens: number | null;
            /** Whether the model is only declared: nothing proves what the engines of its hosts run */
            declared: boolean;
            description: string;
            /** Kinds of input */
            input_modalities: ("text" | "image" | "audio")[];
            licence: string;
            /** Trust that every job of the Cargo has at least */
            min_trust: "any" | "proven" | "own";
            /** SHA-256 of the model's file, in hexadecimal; null if the Cargo has no model, has a folder of files, or names no hash */
            model_sha256: string | null;
            name: string;
            onnx_task_type: string | null;
            /** Kinds of output */
            output_modalities: ("text" | "image" | "audio" | "embedding")[];
            /** Number of parameters, such as 8B; null if unknown */
            parameters: string | null;
            /** Price of a job; with `pricing`, the price of a job of the reference size */
            price_per_job: number;
            /** Prices by size, and the size that costs `price_per_job`; null if each job costs `price_per_job` */
            pricing: components["schemas"]["Pricing"] | null;
            /** Quantisation of the weights, such as Q4_K_M; null if unknown */
            quantization: string | null;
            /** Required memory, in MB of 2^20 bytes */
            required_ram_mb: number;
            /** Required graphics memory, in MB of 2^20 bytes */
            required_vram_mb: number;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
            slug: string;
            /** Abilities in chats. An engine of a host may lack some; then other Islands run the requests */
            supported_features: ("tools" | "json_mode" | "structured_outputs" | "logprobs" | "reasoning")[];
        };
        CargoApproval: {
            /** Time in UTC, as ISO 8601 */
            at: string;
            /** Id of the operator's account, or user of the operating system */
            by: string;
            revision: string;
        };
        CargoDetail: {
            /** Maximum duration of this phase of an attempt, in seconds; null if the coordinator's setting applies */
            accept_limit_s: number | null;
            /** Whether the operator approved the Cargo. Before that, only its owner can see and run it */
            approved: boolean;
            category: "llm" | "image" | "audio" | "vision" | "text" | "utility";
            /** Whether chat completions accept the Cargo as `model` */
            chat: boolean;
            /** Maximum number of tokens in prompt and completion; null if not set */
            context_tokens: number | null;
            /** Whether the model is only declared: nothing proves what the engines of its hosts run */
            declared: boolean;
            description: string;
            example_input: {
                [key: string]: unknown;
            };
            /** Maximum duration of this phase of an attempt, in seconds; null if the coordinator's setting applies */
            first_output_limit_s: number | null;
            /** Kinds of input */
            input_modalities: ("text" | "image" | "audio")[];
            /** JSON Schema of a job's input */
            input_schema: {
                [key: string]: unknown;
            };
            licence: string;
            /** Trust that every job of the Cargo has at least */
            min_trust: "any" | "proven" | "own";
            /** SHA-256 of the model's file, in hexadecimal; null if the Cargo has no model, has a folder of files, or names no hash */
            model_sha256: string | null;
            name: string;
            onnx_task_type: string | null;
            /** Kinds of output */
            output_modalities: ("text" | "image" | "audio" | "embedding")[];
            /** JSON Schema of a job's output; `{}` allows any JSON value */
            output_schema: {
                [key: string]: unknown;
            };
            /** Number of parameters, such as 8B; null if unknown */
            parameters: string | null;
            /** Price of a job; with `pricing`, the price of a job of the reference size */
            price_per_job: number;
            /** Prices by size, and the size that costs `price_per_job`; null if each job costs `price_per_job` */
            pricing: components["schemas"]["Pricing"] | null;
            /** Quantisation of the weights, such as Q4_K_M; null if unknown */
            quantization: string | null;
            /** Required memory, in MB of 2^20 bytes */
            required_ram_mb: number;
            /** Required graphics memory, in MB of 2^20 bytes */
            required_vram_mb: number;
            /** Maximum duration of one attempt, in seconds */
            run_limit_s: number;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
            /** Maximum duration of this phase of an attempt, in seconds; null if the coordinator's setting applies */
            silence_limit_s: number | null;
            slug: string;
            /** Maximum duration of this phase of an attempt, in seconds; null if the coordinator's setting applies */
            start_limit_s: number | null;
            /** Abilities in chats. An engine of a host may lack some; then other Islands run the requests */
            supported_features: ("tools" | "json_mode" | "structured_outputs" | "logprobs" | "reasoning")[];
            /** Name of the task on the model hub, such as `feature-extraction`; null for a chat, or if only the schemas define the task */
            task: string | null;
            /** Maximum time that a job waits for its start, in seconds */
            wait_limit_s: number;
            workload_id: number;
        };
        CargoPin: {
            kind: "image_digest" | "model_hash" | "model_commit";
            value: string | null;
        };
        CargoPins: {
            /** Digest (sha256:…) of the image's manifest */
            image_digest?: string;
            /** Commit of the model's folder on the hub */
            model_commit?: string;
            /** SHA-256 of the model's file or `files.json`, in hexadecimal */
            model_hash?: string;
        };
        CargoReview: {
            /** Most recent approval, of this definition or an earlier one; null before the first */
            approval: components["schemas"]["CargoApproval"] | null;
            /** Complete definition, as in docs/reference/cargo-format.md */
            cargo: {
                [key: string]: unknown;
            };
            description: string;
            name: string;
            origin: "shipped" | "imported" | "owned";
            owner_email: string | null;
            owner_id: string | null;
            /** Hash or digest that pins the Cargo to exact bytes; its `value` is null while the Cargo is not pinned. Null if the Cargo downloads nothing */
            pin: components["schemas"]["CargoPin"] | null;
            /** Current price for new jobs */
            price_per_job: number;
            /** Current prices by size; null if each job costs `price_per_job` */
            pricing: components["schemas"]["Pricing"] | null;
            /** Hash of `cargo`, which the approval must repeat */
            revision: string;
            /** Price in the shipped catalog; null for other Cargos */
            shipped_price_per_job: number | null;
            signs: components["schemas"]["SignedCargo"];
            slug: string;
            status: "offered" | "waiting" | "unpinned" | "off" | "disabled" | "hidden";
        };
        ChangeAccount: {
            current_password: string;
            email?: string;
            password?: string;
        };
        ChangeApiKey: {
            /** Slugs of the Cargos that the key may run; others are refused with 403 cargo_not_allowed. Null if it may run all */
            cargos?: string[] | null;
            /** Maximum credits that the key's jobs may cost in a calendar month (UTC), charged or held; above it, jobs are refused with 402 key_credits_exceeded. Null for no limit */
            credits_per_month?: number | null;
            /** When the key expires (401 key_expired); null if it never expires */
            expires_at?: string | null;
            name?: string;
            /** Trust of the key's jobs that name none in their request; null for `any` */
            trust?: "any" | "proven" | "own" | null;
        };
        ChangeCargo: {
            accept_limit_s?: number | null;
            adapters?: {
                scale?: number;
                sha256: string;
                size_bytes?: number | null;
                url: string;
            }[] | null;
            args?: string[] | null;
            category?: "llm" | "image" | "audio" | "vision" | "text" | "utility";
            container?: {
                command: string[] | null;
                digest: string | null;
                gpu: boolean;
                image: string;
                network: boolean;
            } | null;
            context_tokens?: number | null;
            description?: string;
            enabled?: boolean;
            /** At most 16384 bytes as JSON */
            example_input?: {
                [key: string]: unknown;
            };
            first_output_limit_s?: number | null;
            input_schema?: {
                [key: string]: unknown;
            } | null;
            keep_alive_s?: number | null;
            licence?: string;
            max_output_bytes?: number | null;
            memory?: {
                head_dim: number;
                kv_heads: number;
                layers: number;
                sequences: number;
                vocabulary: number;
            } | {
                working_mb: number;
            } | null;
            min_trust?: "any" | "proven" | "own" | null;
            model?: {
                sha256: string | null;
                size_bytes: number | null;
                url: string;
            } | null;
            name?: string;
            onnx_task_type?: string | null;
            output_schema?: {
                [key: string]: unknown;
            } | null;
            parameters?: string | null;
            parts?: {
                sha256: string;
                size_bytes: number;
                url: string;
            }[] | null;
            price_per_job?: number | null;
            pricing?: {
                completion: number;
                prompt: number;
                reference?: {
                    completion_tokens: number;
                    prompt_tokens: number;
                };
            } | {
                prompt: number;
                reference?: {
                    prompt_tokens: number;
                };
            } | {
                megapixel_step: number;
                reference?: {
                    height: number;
                    steps: number;
                    width: number;
                };
            } | {
                audio_second: number;
                reference?: {
                    seconds: number;
                };
            } | null;
            projector?: {
                sha256: string;
                size_bytes: number;
                url: string;
            } | null;
            quantization?: string | null;
            reads_images?: boolean | null;
            reasoning?: boolean | null;
            required_ram_mb?: number;
            required_vram_mb?: number;
            run_limit_s?: number | null;
            runtime_type?: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
            silence_limit_s?: number | null;
            start_limit_s?: number | null;
            task?: "feature-extraction" | "text-ranking" | null;
            tools?: "template" | "grammar" | null;
            wait_limit_s?: number | null;
            weights?: "fp32" | "fp16" | "int8" | "uint8" | "q8" | "q4" | "q4f16" | "bnb4" | null;
        };
        ChatCompletion: {
            choices: {
                finish_reason: "stop" | "length" | "tool_calls";
                index: number;
                logprobs: {
                    content: {
                        bytes: number[] | null;
                        /** Natural logarithm of the probability, before temperature, penalties and grammars */
                        logprob: number;
                        token: string;
                        top_logprobs: {
                            bytes: number[] | null;
                            /** Natural logarithm of the probability, before temperature, penalties and grammars */
                            logprob: number;
                            token: string;
                        }[];
                    }[];
                    refusal: null;
                } | null;
                message: {
                    /** Text of the completion; null if it has only tool calls */
                    content: string | null;
                    /** Reasoning of a Cargo that supports it */
                    reasoning_content?: string;
                    role: "assistant";
                    tool_calls?: {
                        function: {
                            /** JSON text */
                            arguments: string;
                            name: string;
                        };
                        id: string;
                        type: "function";
                    }[];
                };
            }[];
            created: number;
            id: string;
            model: string;
            object: "chat.completion";
            usage: {
                completion_tokens: number;
                /** Present for completions with reasoning, whose tokens count as completion_tokens */
                completion_tokens_details?: {
                    reasoning_tokens: number;
                };
                /** Credits that were charged, with up to 6 decimals */
                cost: number;
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        ChatCompletionChunk: {
            /** Choices; empty in the chunk that has `usage` */
            choices: {
                delta: {
                    content?: string;
                    reasoning_content?: string;
                    role?: "assistant";
                    tool_calls?: {
                        function: {
                            arguments: string;
                            name?: string;
                        };
                        id?: string;
                        index: number;
                        type?: "function";
                    }[];
                };
                finish_reason: "stop" | "length" | "tool_calls" | null;
                index: number;
                logprobs: {
                    content: {
                        bytes: number[] | null;
                        /** Natural logarithm of the probability, before temperature, penalties and grammars */
                        logprob: number;
                        token: string;
                        top_logprobs: {
                            bytes: number[] | null;
                            /** Natural logarithm of the probability, before temperature, penalties and grammars */
                            logprob: number;
                            token: string;
                        }[];
                    }[];
                    refusal: null;
                } | null;
            }[];
            created: number;
            id: string;
            model: string;
            object: "chat.completion.chunk";
            usage?: {
                completion_tokens: number;
                /** Present for completions with reasoning, whose tokens count as completion_tokens */
                completion_tokens_details?: {
                    reasoning_tokens: number;
                };
                /** Credits that were charged, with up to 6 decimals */
                cost: number;
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        /** Last line of a stream whose job failed after output began; no `[DONE]` follows */
        ChatCompletionError: {
            error: {
                code: string;
                message: string;
                param: null;
                /** Whether another attempt may succeed */
                retryable: boolean;
                type: "server_error" | "invalid_request_error";
            };
        };
        ChatCompletionEvent: components["schemas"]["ChatCompletionChunk"] | components["schemas"]["ChatCompletionError"] | "[DONE]";
        ChatCompletionRequest: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            frequency_penalty?: number | null;
            /** By ids of the model's own vocabulary, at most 300; -100 excludes a token */
            logit_bias?: {
                [key: string]: number;
            } | null;
            /** Return log probabilities of text tokens, before temperature, penalties and grammars */
            logprobs?: boolean | null;
            /** Newer name for `max_tokens`; takes precedence over it */
            max_completion_tokens?: number | null;
            /** Default 1024. Values above the Cargo's context are lowered to it, or to 4096 if that is more */
            max_tokens?: number | null;
            /** At most 16384 parts in total */
            messages: {
                /** Text, or a list of parts; text parts are joined */
                content?: string | ({
                    text: string;
                    /** `text` or `image_url`; other types are refused */
                    type: "text";
                } | {
                    /** Only in `user` messages */
                    image_url: {
                        /** A data URL, or an https address, which the coordinator downloads. At most 16 images of together 3.0 MiB in a request */
                        url: string;
                    };
                    type: "image_url";
                })[] | null;
                role: "system" | "user" | "assistant" | "tool" | "developer";
                /** Id of the tool call that this `tool` message answers */
                tool_call_id?: string | null;
                /** Tool calls of the assistant */
                tool_calls?: {
                    function: {
                        /** JSON text */
                        arguments: string;
                        name: string;
                    };
                    id: string;
                    type: "function";
                }[] | null;
            }[];
            min_p?: number | null;
            /** Slug or alias of a chat Cargo. Default: the operator's default chat Cargo */
            model?: string | null;
            /** Number of choices. Each choice is a separate job; the jobs run one after the other, even in a stream. If a job fails, the earlier ones are still charged */
            n?: number | null;
            /** Default true: up to 16 tool calls; a named function is called once */
            parallel_tool_calls?: boolean | null;
            presence_penalty?: number | null;
            /** Effort of reasoning. A Cargo without reasoning ignores it, and `Atoll-Ignored` names it */
            reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
            /** Divides the logits of tokens already in the completion; 1: no penalty */
            repeat_penalty?: number | null;
            response_format?: {
                type: "text";
            } | {
                /** Not part of OpenAI's API. With a schema, `json_object` works like `json_schema` */
                schema?: {
                    [key: string]: unknown;
                } | null;
                type: "json_object";
            } | {
                json_schema: {
                    /** Used only in error messages */
                    name?: string;
                    /** A JSON Schema */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** Validate afterwards the keywords that the grammar cannot enforce */
                    strict?: boolean | null;
                };
                type: "json_schema";
            } | null;
            /** The same seed gives the same completion on the same engine and model */
            seed?: number | null;
            stop?: string | string[] | null;
            stream?: boolean | null;
            stream_options?: {
                include_usage?: boolean | null;
            } | null;
            /** Default 0.7 */
            temperature?: number | null;
            /** Or a function by its name, or `allowed_tools` */
            tool_choice?: ("auto" | "none" | "required") | {
                function: {
                    name: string;
                };
                type: "function";
            } | {
                allowed_tools: {
                    mode: "auto" | "required";
                    tools: {
                        function: {
                            name: string;
                        };
                        type: "function";
                    }[];
                };
                type: "allowed_tools";
            } | null;
            /** Functions, at most 256 KB in total */
            tools?: ({
                function: {
                    /** Part of the prompt */
                    description?: string | null;
                    /** 1 to 64 of a-z, A-Z, 0-9, _ and - */
                    name: string;
                    /** JSON Schema of the arguments, an object */
                    parameters?: {
                        [key: string]: unknown;
                    } | null;
                    /** Arguments must match `parameters`; otherwise the job fails with `schema_unmet` */
                    strict?: boolean | null;
                };
                type: "function";
            } | {
                type: string;
            })[] | null;
            /** 0: no limit */
            top_k?: number | null;
            /** `max_tokens` × (`top_logprobs` + 1) may be at most 100000 */
            top_logprobs?: number | null;
            top_p?: number | null;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
            /** OpenRouter's equivalent of `stream_options.include_usage` */
            usage?: {
                include?: boolean | null;
            } | null;
        };
        Conversation: {
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            id: string;
            metadata: {
                [key: string]: string;
            };
            model: string;
            system_prompt: string | null;
            title: string | null;
            /** Time in UTC, as ISO 8601 */
            updated_at: string;
        };
        ConversationEvent: components["schemas"]["MessageEvent"] | components["schemas"]["StatusEvent"] | components["schemas"]["TokenEvent"] | components["schemas"]["ReasoningEvent"] | components["schemas"]["ToolCallEvent"] | components["schemas"]["ProgressEvent"] | components["schemas"]["ImageEvent"] | components["schemas"]["DoneEvent"] | components["schemas"]["ErrorEvent"];
        ConversationWithMessages: {
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            id: string;
            messages: components["schemas"]["Message"][];
            metadata: {
                [key: string]: string;
            };
            model: string;
            system_prompt: string | null;
            title: string | null;
            /** Time in UTC, as ISO 8601 */
            updated_at: string;
        };
        /** A session whose token is only in the cookie `atoll_session` */
        CookieSession: {
            account: components["schemas"]["Account"];
            /** Time in UTC, as ISO 8601 */
            expires_at: string;
        };
        CoordinatorOverview: {
            address: string;
            /** False if the coordinator did not reply in time; the totals exclude it */
            answers: boolean;
            /** Null if there is only one coordinator */
            id: string | null;
            islands: number;
            jobs: {
                running: number;
                waiting: number;
            };
            slots: {
                all: number;
                free: number;
            };
            version: string;
        };
        CountedTokens: {
            input_tokens: number;
        };
        CountTokensRequest: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** At most 16384 parts in total */
            messages: {
                /** Text, or a list of blocks, of which the text blocks are joined */
                content: string | ({
                    text: string;
                    type: "text";
                } | {
                    /** Only in `user` messages */
                    source: {
                        data: string;
                        media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
                        type: "base64";
                    } | {
                        type: "url";
                        /** A data URL, or an https address, which the coordinator downloads. At most 16 images of together 3.0 MiB in a request */
                        url: string;
                    };
                    type: "image";
                } | {
                    id: string;
                    input: {
                        [key: string]: unknown;
                    };
                    name: string;
                    type: "tool_use";
                } | {
                    /** Text, or text blocks */
                    content?: string | {
                        text: string;
                        type: "text";
                    }[] | null;
                    tool_use_id: string;
                    type: "tool_result";
                } | {
                    type: "thinking";
                } | {
                    type: "redacted_thinking";
                })[];
                role: "user" | "assistant" | "system";
            }[];
            /** Slug or alias of a chat Cargo */
            model: string;
            /** Text, or a list of text blocks, which are joined */
            system?: string | {
                text: string;
                type: "text";
            }[] | null;
            /** Reasoning, which is off by default. Cargos without reasoning ignore `enabled` */
            thinking?: {
                budget_tokens?: null;
                type: "disabled";
            } | {
                budget_tokens?: null;
                type: "adaptive" | "between_tools";
            } | {
                /** Budget of reasoning tokens: 512 tokens for a value below 2048, otherwise 2048 */
                budget_tokens: number;
                type: "enabled";
            } | null;
            tool_choice?: {
                disable_parallel_tool_use?: boolean | null;
                type: "auto";
            } | {
                disable_parallel_tool_use?: boolean | null;
                type: "any";
            } | {
                disable_parallel_tool_use?: boolean | null;
                name: string;
                type: "tool";
            } | {
                type: "none";
            } | null;
            /** Client tools, at most 256 KB in total; built-in tools are not offered to the model */
            tools?: ({
                /** Description of the tool, which is part of the prompt */
                description?: string | null;
                /** JSON Schema of the input, which is an object */
                input_schema: {
                    [key: string]: unknown;
                };
                /** 1 to 64 of a-z, A-Z, 0-9, _ and - */
                name: string;
                /** Whether the job fails with `schema_unmet` if the input does not match `input_schema` */
                strict?: boolean | null;
                type?: "custom" | null;
            } | {
                type: string;
            })[] | null;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
        };
        CreateApiKey: {
            /** Slugs of the Cargos that the key may run; others are refused with 403 cargo_not_allowed. Null if it may run all */
            cargos?: string[] | null;
            /** Maximum credits that the key's jobs may cost in a calendar month (UTC), charged or held; above it, jobs are refused with 402 key_credits_exceeded. Null for no limit */
            credits_per_month?: number | null;
            /** When the key expires (401 key_expired); null if it never expires */
            expires_at?: string | null;
            name?: string;
            /** Comma-separated list, or array, of `read` and `write` */
            scopes?: string | ("read" | "write")[];
            /** Trust of the key's jobs that name none in their request; null for `any` */
            trust?: "any" | "proven" | "own" | null;
        };
        CreateCargo: {
            accept_limit_s?: number | null;
            adapters?: {
                scale?: number;
                sha256: string;
                size_bytes?: number | null;
                url: string;
            }[] | null;
            args?: string[] | null;
            category: "llm" | "image" | "audio" | "vision" | "text" | "utility";
            container?: {
                command: string[] | null;
                digest: string | null;
                gpu: boolean;
                image: string;
                network: boolean;
            } | null;
            context_tokens?: number | null;
            description: string;
            enabled?: boolean;
            /** At most 16384 bytes as JSON */
            example_input: {
                [key: string]: unknown;
            };
            first_output_limit_s?: number | null;
            input_schema?: {
                [key: string]: unknown;
            } | null;
            keep_alive_s?: number | null;
            licence: string;
            max_output_bytes?: number | null;
            memory?: {
                head_dim: number;
                kv_heads: number;
                layers: number;
                sequences: number;
                vocabulary: number;
            } | {
                working_mb: number;
            } | null;
            min_trust?: "any" | "proven" | "own" | null;
            model?: {
                sha256: string | null;
                size_bytes: number | null;
                url: string;
            } | null;
            name: string;
            onnx_task_type?: string | null;
            output_schema?: {
                [key: string]: unknown;
            } | null;
            parameters?: string | null;
            parts?: {
                sha256: string;
                size_bytes: number;
                url: string;
            }[] | null;
            price_per_job?: number | null;
            pricing?: {
                completion: number;
                prompt: number;
                reference?: {
                    completion_tokens: number;
                    prompt_tokens: number;
                };
            } | {
                prompt: number;
                reference?: {
                    prompt_tokens: number;
                };
            } | {
                megapixel_step: number;
                reference?: {
                    height: number;
                    steps: number;
                    width: number;
                };
            } | {
                audio_second: number;
                reference?: {
                    seconds: number;
                };
            } | null;
            projector?: {
                sha256: string;
                size_bytes: number;
                url: string;
            } | null;
            quantization?: string | null;
            reads_images?: boolean | null;
            reasoning?: boolean | null;
            required_ram_mb: number;
            required_vram_mb: number;
            run_limit_s?: number | null;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
            silence_limit_s?: number | null;
            slug: string;
            start_limit_s?: number | null;
            task?: "feature-extraction" | "text-ranking" | null;
            tools?: "template" | "grammar" | null;
            wait_limit_s?: number | null;
            weights?: "fp32" | "fp16" | "int8" | "uint8" | "q8" | "q4" | "q4f16" | "bnb4" | null;
        };
        CreateConversation: {
            /** Data for the client's own use, at most 16 entries */
            metadata?: {
                [key: string]: string;
            } | null;
            /** Slug or alias of a chat Cargo. Default: the operator's default chat Cargo */
            model?: string | null;
            system_prompt?: string | null;
            title?: string | null;
        };
        CreatedApiKey: {
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            data: {
                cargos: string[] | null;
                /** Time in UTC, as ISO 8601 */
                created_at: string;
                /** Credits, with up to 6 decimals */
                credits_per_month: number | null;
                /** Time in UTC, as ISO 8601 */
                expires_at: string | null;
                id: string;
                /** Secret (ak_…), which is shown only here */
                key: string;
                name: string;
                prefix: string;
                scopes: ("read" | "write")[];
                /** Trust of jobs that name none in their request; null for `any` */
                trust: "any" | "proven" | "own" | null;
            };
            id: string;
            /** Secret (ak_…), which is shown only here */
            key: string;
            name: string;
            scopes: ("read" | "write")[];
        };
        CreateFileBatch: {
            completion_window: "24h";
            /** Endpoint of every line; docs/use/files-and-batches.md lists those that batches support */
            endpoint: string;
            /** Id of a JSONL file with the purpose `batch` */
            input_file_id: string;
            metadata?: {
                [key: string]: string;
            } | null;
            /** Lifetime of the result files, at most the coordinator's retention of files */
            output_expires_after?: {
                anchor: "created_at";
                seconds: number;
            } | null;
        };
        CreateIslandToken: {
            /** Name of the token. Default: "Island token" */
            name?: string;
        };
        Credentials: {
            email: string;
            password: string;
        };
        DeletedFile: {
            deleted: true;
            id: string;
            object: "file";
        };
        DoneEvent: {
            finish_reason: "stop" | "length" | "tool_calls";
            /** Output of the job, unless it is text that was already streamed */
            output?: unknown;
            type: "done";
            usage: components["schemas"]["Usage"];
        };
        Download: {
            /** `npm` is for `npm install`, `deb` for `apt install`, and `wheel` for `pip install` */
            format: "npm" | "deb" | "wheel";
            name: string;
            /** The agent for hosts, or a client library */
            package: "island" | "client";
            /** Path on the coordinator; with `.sha256` appended, the path of the hash */
            path: string;
            /** SHA-256 in hexadecimal */
            sha256: string;
            size_bytes: number;
            version: string;
        };
        Downloads: {
            files: components["schemas"]["Download"][];
            /** URL at which other machines reach the coordinator; null if the operator has not set it */
            public_url: string | null;
        };
        EmailProof: {
            password: string;
            /** Token (ep_…) from the e-mail */
            token: string;
        };
        Embeddings: {
            data: {
                embedding: number[] | string;
                index: number;
                object: "embedding";
            }[];
            model: string;
            object: "list";
            usage: {
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        EmbeddingsRequest: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** Must be the model's number of dimensions. Any other number is refused after the job has run, and the job is charged */
            dimensions?: number | null;
            /** Format of the vectors. Default: `float`. `base64` encodes little-endian 32-bit floats */
            encoding_format?: "float" | "base64" | null;
            /** A text or a list of texts. A job takes up to 256 texts or 255 KiB. Lists of token ids are refused */
            input: string | string[];
            /** Slug or alias of a Cargo with the task `feature-extraction`. Default: the setting `default_embedding_cargo` */
            model?: string | null;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
        };
        /** A model that an engine of the host serves. Unknown values are null */
        EngineModel: {
            /** Whether other clients of the engine use all its slots */
            busy: boolean;
            /** Slugs of the enabled Cargos whose jobs the engine runs with the model */
            cargos: string[];
            /** Maximum number of tokens in prompt and completion of a job */
            context_length: number | null;
            /** Whether the engine only declares its name: nothing proves what the model is */
            declared: boolean;
            /** Name in the engine if the model is declared; otherwise `sha256:` and the hash of its file, or its repository and commit on the hub */
            name: string;
            /** Number of parameters, such as 8B */
            parameters: string | null;
            /** Quantisation of the weights, such as Q4_K_M */
            quantization: string | null;
        };
        ErrorEvent: {
            code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal" | "cancelled";
            error: string;
            /** Whether another attempt may succeed */
            retryable: boolean;
            type: "error";
        };
        File: {
            bytes: number;
            /** Unix time in seconds */
            created_at: number;
            /** Unix time in seconds at which the file is removed; null if it stays until you delete it */
            expires_at: number | null;
            filename: string;
            id: string;
            object: "file";
            purpose: "assistants" | "batch" | "batch_output" | "evals" | "fine-tune" | "user_data" | "vision";
            /** SHA-256 of the content, in hexadecimal */
            sha256: string;
            status: "processed";
        };
        FileBatch: {
            /** Unix time in seconds; null if it has not happened */
            cancelled_at: number | null;
            /** Unix time in seconds; null if it has not happened */
            cancelling_at: number | null;
            /** Unix time in seconds; null if it has not happened */
            completed_at: number | null;
            completion_window: "24h";
            created_at: number;
            endpoint: string;
            /** File of the lines that failed */
            error_file_id: string | null;
            /** Why the batch failed */
            errors: {
                data: {
                    code: string;
                    /** Line number, from 1; null if the error concerns the whole file */
                    line: number | null;
                    message: string;
                    param: string | null;
                }[];
                object: "list";
            } | null;
            /** Unix time in seconds; null if it has not happened */
            expired_at: number | null;
            expires_at: number;
            /** Unix time in seconds; null if it has not happened */
            failed_at: number | null;
            /** Unix time in seconds; null if it has not happened */
            finalizing_at: number | null;
            id: string;
            /** Unix time in seconds; null if it has not happened */
            in_progress_at: number | null;
            input_file_id: string;
            metadata: {
                [key: string]: string;
            } | null;
            object: "batch";
            /** File of the lines that succeeded */
            output_file_id: string | null;
            request_counts: {
                completed: number;
                failed: number;
                total: number;
            };
            status: "validating" | "failed" | "in_progress" | "finalizing" | "completed" | "expired" | "cancelling" | "cancelled";
        };
        FileBatchList: {
            data: components["schemas"]["FileBatch"][];
            first_id: string | null;
            has_more: boolean;
            last_id: string | null;
            object: "list";
        };
        FileList: {
            data: components["schemas"]["File"][];
            first_id: string | null;
            has_more: boolean;
            last_id: string | null;
            object: "list";
        };
        GrantCredits: {
            /** Credits to add; a negative number takes credits back. Must not be 0 */
            credits: number;
            /** Note that the account sees in its ledger */
            note?: string;
        };
        Health: {
            checks: {
                /** Present only with several coordinators. `down` means that the others are unreachable; this coordinator's own jobs and Islands continue */
                bus?: "ok" | "down";
                /** `read_only` means that writes are refused, because the disk is full, another process writes, or the database is unreachable */
                store: "ok" | "read_only" | "failing";
            };
            status: "ok" | "degraded";
            version: string;
        };
        ImageEvent: {
            data: string;
            format: string;
            type: "image";
        };
        Images: {
            /** Unix time in seconds */
            created: number;
            data: {
                /** The image file in base64 */
                b64_json: string;
            }[];
            output_format: "png";
            usage: {
                input_tokens: number;
                input_tokens_details: {
                    image_tokens: number;
                    text_tokens: number;
                };
                /** Always 0: images have no tokens */
                output_tokens: number;
                total_tokens: number;
            };
        };
        ImagesRequest: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** How closely the image follows the prompt. Not part of OpenAI's API */
            guidance_scale?: number | null;
            /** Slug or alias of an image Cargo. Default: the setting `default_image_cargo` */
            model?: string | null;
            /** Number of images. Default: 1. Each image is a separate job; the jobs run one after the other */
            n?: number | null;
            /** What the image should not show. Not part of OpenAI's API */
            negative_prompt?: string | null;
            output_format?: "png" | null;
            prompt: string;
            response_format?: "b64_json" | null;
            /** The same seed gives the same image. Image i of n, counted from 0, uses the seed plus i. Not part of OpenAI's API */
            seed?: number | null;
            /** Width and height, such as `512x512`, or `auto` for the Cargo's size, which is the default. A size that the Cargo does not support is refused with 422 */
            size?: string | null;
            /** Number of sampler steps. Default: that of the Cargo. Not part of OpenAI's API */
            steps?: number | null;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
        };
        Island: {
            agent_version: string;
            /** At most 10 downloads of models and images in progress */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /** Time in UTC, as ISO 8601 */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** Host id, a UUID */
            id: string;
            /** False if a coordinator that may have the Island did not reply; the status is then derived from `last_seen_at` */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /** Time in UTC, as ISO 8601 */
            last_seen_at: string;
            /** Null unless the Island is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** Slugs of at most 10 Cargos whose model is in memory */
            loaded: string[];
            /** Slugs of at most 10 Cargos whose model is being loaded into memory */
            loading: string[];
            /** Name that the owner gave the Island; otherwise the machine's name, or a name derived from the id */
            name: string;
            /** The oldest 10 jobs on the Island, with their Cargo and start */
            running: {
                cargo: string;
                /** Time in UTC, as ISO 8601 */
                since: string;
            }[];
            runtimes: {
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
                version: string;
            }[];
            /** `paused`: connected, but not accepting jobs, because its owner paused it, it is outside its hours, or it is shutting down. `quarantined`: several jobs in a row failed, and it gets few or no jobs. `suspended`: the operator suspended it, and its agent retries once a minute */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** Reason given by the operator; null unless the Island is suspended */
            suspended_because: string | null;
            /** Tokens of the jobs that ended in the last 30 UTC days */
            tokens: number;
            uptime: components["schemas"]["IslandUptime"];
        };
        /** Sent when an Island connected, disconnected, was renamed or reported a change. Contains the Island's entry in GET /islands */
        IslandChangedEvent: {
            agent_version: string;
            /** At most 10 downloads of models and images in progress */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /** Time in UTC, as ISO 8601 */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** Host id, a UUID */
            id: string;
            /** False if a coordinator that may have the Island did not reply; the status is then derived from `last_seen_at` */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /** Time in UTC, as ISO 8601 */
            last_seen_at: string;
            /** Null unless the Island is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** Slugs of at most 10 Cargos whose model is in memory */
            loaded: string[];
            /** Slugs of at most 10 Cargos whose model is being loaded into memory */
            loading: string[];
            /** Name that the owner gave the Island; otherwise the machine's name, or a name derived from the id */
            name: string;
            /** False if the Island's status is `offline` */
            online: boolean;
            /** The oldest 10 jobs on the Island, with their Cargo and start */
            running: {
                cargo: string;
                /** Time in UTC, as ISO 8601 */
                since: string;
            }[];
            runtimes: {
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
                version: string;
            }[];
            /** `paused`: connected, but not accepting jobs, because its owner paused it, it is outside its hours, or it is shutting down. `quarantined`: several jobs in a row failed, and it gets few or no jobs. `suspended`: the operator suspended it, and its agent retries once a minute */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** Reason given by the operator; null unless the Island is suspended */
            suspended_because: string | null;
            /** Tokens of the jobs that ended in the last 30 UTC days */
            tokens: number;
            type: "island";
            uptime: components["schemas"]["IslandUptime"];
        };
        IslandDay: {
            /** Day in UTC */
            day: string;
            /** Credits, with up to 6 decimals */
            earned: number;
            jobs: {
                cancelled: number;
                completed: number;
                failed: number;
                /** Number of attempts that failed or were lost on this Island and were retried */
                retried: number;
                timeout: number;
            };
            tokens: number;
            /** Share of the day that the Island was connected, from 0 to 1; null before it was first seen */
            uptime: number | null;
        };
        IslandDetail: {
            agent_version: string;
            /** Slugs of enabled Cargos whose model or image is on the Island's disk; empty unless it is connected */
            cached_cargos: string[];
            /** At most 200 models and images on the Island's disk; empty unless it is connected */
            cached_models: string[];
            /** The last 30 UTC days including today, oldest first, without gaps */
            days: components["schemas"]["IslandDay"][];
            /** At most 10 downloads of models and images in progress */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /** At most 50 models of the engines that the host lends; empty unless the Island is connected */
            engine_models: components["schemas"]["EngineModel"][];
            /** Time in UTC, as ISO 8601 */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** Host id, a UUID */
            id: string;
            /** False if a coordinator that may have the Island did not reply; the status is then derived from `last_seen_at` */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /** Time in UTC, as ISO 8601 */
            last_seen_at: string;
            /** Null unless the Island is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** Slugs of at most 10 Cargos whose model is in memory */
            loaded: string[];
            /** Slugs of at most 10 Cargos whose model is being loaded into memory */
            loading: string[];
            /** Name that the owner gave the Island; otherwise the machine's name, or a name derived from the id */
            name: string;
            /** The oldest 10 jobs on the Island, with their Cargo and start */
            running: {
                cargo: string;
                /** Time in UTC, as ISO 8601 */
                since: string;
            }[];
            runtimes: {
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
                version: string;
            }[];
            /** Standings of the owner, which are those of all its Islands: at most 100 Cargos with audits or held earnings, sorted by slug */
            standings: components["schemas"]["Standing"][];
            /** `paused`: connected, but not accepting jobs, because its owner paused it, it is outside its hours, or it is shutting down. `quarantined`: several jobs in a row failed, and it gets few or no jobs. `suspended`: the operator suspended it, and its agent retries once a minute */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** Reason given by the operator; null unless the Island is suspended */
            suspended_because: string | null;
            /** Tokens of the jobs that ended in the last 30 UTC days */
            tokens: number;
            uptime: components["schemas"]["IslandUptime"];
        };
        /** A download, as the Island last reported it. Unknown values are null */
        IslandDownload: {
            /** Average speed of the last 10 s */
            bytes_per_second: number | null;
            /** Slug of the Cargo */
            cargo: string;
            /** Progress, from 0 to 1; null while the size is unknown */
            fraction: number | null;
            received_bytes: number | null;
            total_bytes: number | null;
        };
        /** Earnings in the current UTC day and the last 7 and 30 UTC days, by the time of the ledger entry */
        IslandEarnings: {
            /** Credits, with up to 6 decimals */
            days_7: number;
            /** Credits, with up to 6 decimals */
            days_30: number;
            /** Credits, with up to 6 decimals */
            today: number;
        };
        /** Hardware, limited by the owner's caps. Unknown values are null */
        IslandHardware: {
            arch: string;
            cpu_model: string | null;
            /** Memory in MB of 2^20 bytes */
            disk_budget_mb: number;
            /** Memory in MB of 2^20 bytes */
            disk_free_mb: number | null;
            gpus: {
                driver: string | null;
                name: string;
                unified_memory: boolean;
                vendor: string | null;
                /** Memory in MB of 2^20 bytes */
                vram_mb: number | null;
            }[];
            logical_cores: number;
            os_name: string | null;
            physical_cores: number | null;
            platform: string;
            /** Memory in MB of 2^20 bytes */
            ram_mb: number;
        };
        /** Numbers of jobs that ended on this Island in the last 30 UTC days; stored once a minute */
        IslandJobs: {
            cancelled: number;
            completed: number;
            failed: number;
            /** Number of attempts that failed or were lost on this Island and were retried */
            retried: number;
            timeout: number;
        };
        /** Most recent report of the Island, which sends one every 10 s. Unknown values are null */
        IslandLoad: {
            /** CPU load of all cores together, from 0 to 1 */
            cpu: number | null;
            /** Memory in MB of 2^20 bytes */
            free_ram_mb: number | null;
            /** Memory in MB of 2^20 bytes */
            free_vram_mb: number | null;
            /** Load of the busiest graphics card, from 0 to 1 */
            gpu: number | null;
            /** Maximum number of jobs that the Island runs at the same time */
            slots: number;
            slots_busy: number;
            /** Temperature of the hottest processor or graphics card, in degrees Celsius */
            temperature_c: number | null;
        };
        /** The Island was removed from GET /islands */
        IslandRemovedEvent: {
            id: string;
            type: "island_removed";
        };
        IslandToken: {
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            id: string;
            /** When an Island last started a session with the token; a session can last for weeks */
            last_used_at: string | null;
            name: string;
        };
        /** Share of the time that the Island was connected, from 0 to 1, in the current UTC day and the last 7 and 30 UTC days. The time before it was first seen does not count. Stored once a minute, so that a crash of a coordinator loses up to a minute */
        IslandUptime: {
            days_7: number | null;
            days_30: number | null;
            today: number | null;
        };
        Job: {
            /** Number of attempts so far; an assignment that the Island refused does not count */
            attempts: number;
            /** `never`: no other Island may read the answer for an audit */
            audit: "default" | "never";
            batch_id: string | null;
            /** Time in UTC, as ISO 8601 */
            completed_at: string | null;
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            /** Time from start to end; null until the job has ended, or if it never started */
            duration_ms: number | null;
            error: {
                code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
                message: string;
                retryable: boolean;
            } | null;
            finish_reason: "stop" | "length" | "tool_calls" | null;
            id: string;
            /** Paths of the request's ignored parameters, as in the header `Atoll-Ignored` */
            ignored: string[];
            /** Input of the job; empty after its removal */
            input: {
                [key: string]: unknown;
            };
            /** When the input was removed, by its owner or at the end of the retention period; null while it is stored */
            input_removed_at: string | null;
            island_id: string | null;
            /** Text, or the JSON value that the Cargo produced; null until the job is completed */
            output?: unknown;
            /** When the output, the stream and the error message were removed; null while they are stored */
            output_removed_at: string | null;
            placement: components["schemas"]["Placement"] | null;
            priority: number;
            /** Time in UTC, as ISO 8601 */
            started_at: string | null;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            timings: {
                /** Time from the load to the first output; null without output */
                first_output_ms: number | null;
                /** Time to download and load the model; 0 if it was in memory */
                load_ms: number;
                /** Time from the load to the end of the run */
                run_ms: number;
            } | null;
            /** Islands that may run the job: the strictest demand of request, API key and Cargo */
            trust: "any" | "proven" | "own";
            /** Usage of the job; null until it has ended */
            usage: components["schemas"]["Usage"] | null;
            verification: components["schemas"]["Verification"] | null;
            waiting: components["schemas"]["Waiting"] | null;
            webhook: components["schemas"]["WebhookLog"] | null;
            workload_id: number;
            workload_slug: string;
        };
        /** Sent when a job is new or its state changed. Contains the job's entry in GET /jobs, without workload_id and input */
        JobChangedEvent: {
            batch_id: string | null;
            /** Slug of the Cargo, the same as `workload_slug` */
            cargo: string;
            /** Error code of a job that failed or timed out */
            code?: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
            /** Time in UTC, as ISO 8601 */
            completed_at: string | null;
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            id: string;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            type: "job";
            /** Time in UTC, as ISO 8601 */
            updated_at: string;
            workload_slug: string;
        };
        /** A stream contains any number of `status`, `token`, `reasoning`, `tool_call`, `progress` and `image` events, then one `done` or `error`. A stream whose delivered output was lost in a crash (position_lost) ends without `done` or `error` */
        JobEvent: components["schemas"]["StatusEvent"] | components["schemas"]["TokenEvent"] | components["schemas"]["ReasoningEvent"] | components["schemas"]["ToolCallEvent"] | components["schemas"]["ProgressEvent"] | components["schemas"]["ImageEvent"] | components["schemas"]["DoneEvent"] | components["schemas"]["ErrorEvent"];
        JobOutput: {
            id: string;
            /** Whether the job is completed and `output` is the whole output */
            is_complete: boolean;
            /** Text so far, the most recent image as `{format, data}`, or the whole output of a completed job; null before any output */
            output?: unknown;
            /** Most recent progress that the Cargo reported; null if it reported none */
            progress: {
                step: number;
                total: number;
            } | null;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            /** Number of model tokens delivered */
            tokens: number;
            /** Usage of the job; null until it has ended */
            usage: components["schemas"]["Usage"] | null;
            workload_slug: string;
        };
        JobSummary: {
            batch_id: string | null;
            /** Time in UTC, as ISO 8601 */
            completed_at: string | null;
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            id: string;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            workload_slug: string;
        };
        JobWebhook: {
            data: {
                /** Number of attempts so far; an assignment that the Island refused does not count */
                attempts: number;
                /** `never`: no other Island may read the answer for an audit */
                audit: "default" | "never";
                batch_id: string | null;
                /** Time in UTC, as ISO 8601 */
                completed_at: string | null;
                /** Time in UTC, as ISO 8601 */
                created_at: string;
                /** Time from start to end; null until the job has ended, or if it never started */
                duration_ms: number | null;
                error: {
                    code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
                    message: string;
                    retryable: boolean;
                } | null;
                finish_reason: "stop" | "length" | "tool_calls" | null;
                id: string;
                /** Paths of the request's ignored parameters, as in the header `Atoll-Ignored` */
                ignored: string[];
                /** When the input was removed, by its owner or at the end of the retention period; null while it is stored */
                input_removed_at: string | null;
                island_id: string | null;
                /** Text, or the JSON value that the Cargo produced; null until the job is completed */
                output?: unknown;
                /** The output is too large for a webhook; read it from GET /jobs/{id} */
                output_omitted: boolean;
                /** When the output, the stream and the error message were removed; null while they are stored */
                output_removed_at: string | null;
                priority: number;
                /** Time in UTC, as ISO 8601 */
                started_at: string | null;
                status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
                timings: {
                    /** Time from the load to the first output; null without output */
                    first_output_ms: number | null;
                    /** Time to download and load the model; 0 if it was in memory */
                    load_ms: number;
                    /** Time from the load to the end of the run */
                    run_ms: number;
                } | null;
                /** Islands that may run the job: the strictest demand of request, API key and Cargo */
                trust: "any" | "proven" | "own";
                /** Usage of the job; null until it has ended */
                usage: components["schemas"]["Usage"] | null;
                workload_id: number;
                workload_slug: string;
            };
            /** Time in UTC, as ISO 8601 */
            timestamp: string;
            type: "job.completed" | "job.failed" | "job.cancelled" | "job.timeout";
        };
        KnownAccount: {
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            /** Credits, with up to 6 decimals */
            credits: number;
            email: string;
            /** Credits held for unfinished jobs */
            held: number;
            id: string;
            /** Number of the account's Islands, connected or not */
            islands: number;
            role: "user" | "operator";
            suspended: components["schemas"]["Suspension"] | null;
            unfinished_jobs: number;
        };
        KnownAccountDetail: {
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            /** Credits, with up to 6 decimals */
            credits: number;
            email: string;
            /** Credits held for unfinished jobs */
            held: number;
            id: string;
            /** Number of the account's Islands, connected or not */
            islands: number;
            limits: components["schemas"]["AccountLimits"];
            role: "user" | "operator";
            suspended: components["schemas"]["Suspension"] | null;
            unfinished_jobs: number;
        };
        KnownCargo: {
            origin: "shipped" | "imported" | "owned";
            owner_email: string | null;
            owner_id: string | null;
            /** Whether a hash pins the Cargo to exact bytes; null for a Cargo that is invalid in this version */
            pinned: boolean | null;
            /** Current price for new jobs; null for a Cargo that is invalid in this version */
            price_per_job: number | null;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine" | null;
            /** Price in the shipped catalog; null for other Cargos */
            shipped_price_per_job: number | null;
            slug: string;
            status: "offered" | "waiting" | "unpinned" | "off" | "disabled" | "hidden";
        };
        KnownIsland: {
            account_email: string | null;
            /** Id of the owner's account */
            account_id: string;
            agent_version: string;
            /** At most 10 downloads of models and images in progress */
            downloads: components["schemas"]["IslandDownload"][];
            /** Time in UTC, as ISO 8601 */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** Host id, a UUID */
            id: string;
            /** False if a coordinator that may have the Island did not reply; the status is then derived from `last_seen_at` */
            is_live: boolean;
            /** Time in UTC, as ISO 8601 */
            last_seen_at: string;
            /** Null unless the Island is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** Slugs of at most 10 Cargos whose model is in memory */
            loaded: string[];
            /** Slugs of at most 10 Cargos whose model is being loaded into memory */
            loading: string[];
            /** Name that the owner gave the Island; otherwise the machine's name, or a name derived from the id */
            name: string;
            /** The oldest 10 jobs on the Island, with their Cargo and start */
            running: {
                cargo: string;
                /** Time in UTC, as ISO 8601 */
                since: string;
            }[];
            runtimes: {
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
                version: string;
            }[];
            /** `paused`: connected, but not accepting jobs, because its owner paused it, it is outside its hours, or it is shutting down. `quarantined`: several jobs in a row failed, and it gets few or no jobs. `suspended`: the operator suspended it, and its agent retries once a minute */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** Reason given by the operator; null unless the Island is suspended */
            suspended_because: string | null;
        };
        KnownIslandDetail: {
            account_email: string | null;
            /** Id of the owner's account */
            account_id: string;
            agent_version: string;
            /** Slugs of enabled Cargos whose model or image is on the Island's disk; empty unless it is connected */
            cached_cargos: string[];
            /** At most 200 models and images on the Island's disk; empty unless it is connected */
            cached_models: string[];
            /** The last 30 UTC days including today, oldest first, without gaps */
            days: components["schemas"]["IslandDay"][];
            /** At most 10 downloads of models and images in progress */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /** At most 50 models of the engines that the host lends; empty unless the Island is connected */
            engine_models: components["schemas"]["EngineModel"][];
            /** Time in UTC, as ISO 8601 */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** Host id, a UUID */
            id: string;
            /** False if a coordinator that may have the Island did not reply; the status is then derived from `last_seen_at` */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /** Time in UTC, as ISO 8601 */
            last_seen_at: string;
            /** Null unless the Island is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** Slugs of at most 10 Cargos whose model is in memory */
            loaded: string[];
            /** Slugs of at most 10 Cargos whose model is being loaded into memory */
            loading: string[];
            /** Name that the owner gave the Island; otherwise the machine's name, or a name derived from the id */
            name: string;
            /** The oldest 10 jobs on the Island, with their Cargo and start */
            running: {
                cargo: string;
                /** Time in UTC, as ISO 8601 */
                since: string;
            }[];
            runtimes: {
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
                version: string;
            }[];
            /** Standings of the owner, which are those of all its Islands: at most 100 Cargos with audits or held earnings, sorted by slug */
            standings: components["schemas"]["Standing"][];
            /** `paused`: connected, but not accepting jobs, because its owner paused it, it is outside its hours, or it is shutting down. `quarantined`: several jobs in a row failed, and it gets few or no jobs. `suspended`: the operator suspended it, and its agent retries once a minute */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** Reason given by the operator; null unless the Island is suspended */
            suspended_because: string | null;
            /** Tokens of the jobs that ended in the last 30 UTC days */
            tokens: number;
            uptime: components["schemas"]["IslandUptime"];
        };
        /** A job without its input and output, which operators cannot see */
        KnownJob: {
            /** Null for a deleted account */
            account_email: string | null;
            account_id: string;
            /** Number of attempts so far */
            attempts: number;
            batch_id: string | null;
            /** Whether a client waits for the completion */
            chat: boolean;
            /** Time in UTC, as ISO 8601 */
            completed_at: string | null;
            completion_tokens: number | null;
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            /** Credits, with up to 6 decimals */
            credits_used: number;
            error_code: string | null;
            id: string;
            island_id: string | null;
            /** Credits, with up to 6 decimals */
            price: number;
            priority: number;
            prompt_tokens: number | null;
            /** Time in UTC, as ISO 8601 */
            started_at: string | null;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            workload_slug: string;
        };
        KnownStanding: {
            /** Null for a deleted account */
            account_email: string | null;
            /** Id of the owner's account */
            account_id: string;
            /** Slug of the Cargo */
            cargo: string;
            /** Time in UTC, as ISO 8601 */
            changed_at: string;
            /** Reason of the last change by an operator, or of the quarantine; else null */
            reason: string | null;
            /** `new`: each answer that can be judged is audited, and earnings are held. `proven`: some answers are audited, and earnings are held for at most a day. `trusted`: nothing is audited or held. `quarantined`: the owner's Islands get no jobs of the Cargo */
            state: "new" | "proven" | "trusted" | "quarantined";
            /** Number of consistent audits in a row */
            streak: number;
        };
        LedgerLine: {
            /** Change of `credits`; negative for a decrease */
            amount: number;
            /** `credits` of the account after this entry */
            balance: number;
            /** Id of the batch, only for the hold of a whole batch; its jobs are charged and released separately */
            batch_id: string | null;
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            /** Change of the credits held for unfinished jobs */
            held: number;
            /** Id of the entry; increases with time */
            id: number;
            /** Id of the job; for an earning, a job of any account */
            job_id: string | null;
            /** `grant`: an operator or the registration gave credits. `correction`: an operator took credits back. `hold`: credits were reserved for a submitted job. `charge`: credits were taken from the hold. `release`: credits returned from the hold. `earning`: an Island of the account ran a job */
            kind: "grant" | "correction" | "refund" | "hold" | "charge" | "release" | "earning";
            /** The operator's note on a grant or correction */
            note: string | null;
            /** Slug of the Cargo of the job or batch */
            workload_slug: string | null;
        };
        ListedJob: {
            batch_id: string | null;
            /** Time in UTC, as ISO 8601 */
            completed_at: string | null;
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            id: string;
            /** Null if the input is longer than 4 KB; empty after its removal */
            input: {
                [key: string]: unknown;
            } | null;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            workload_id: number;
            workload_slug: string;
        };
        Message: {
            /** Time in UTC, as ISO 8601 */
            completed_at: string | null;
            /** Text of the message; while the assistant's message is in progress, the text so far */
            content: string;
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            error: {
                code: string;
                message: string;
            } | null;
            finish_reason: "stop" | "length" | "tool_calls" | null;
            id: string;
            /** Job that produces the assistant's message */
            job_id: string | null;
            role: "user" | "assistant";
            status: "in_progress" | "completed" | "failed" | "cancelled" | "timeout";
        };
        MessageEvent: {
            conversation_id: string;
            job_id: string;
            message: components["schemas"]["Message"];
            type: "message";
            user_message: components["schemas"]["Message"];
        };
        MessageRequest: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** Values above the Cargo's context are lowered to it, or to 4096 if that is more */
            max_tokens: number;
            /** At most 16384 parts in total */
            messages: {
                /** Text, or a list of blocks, of which the text blocks are joined */
                content: string | ({
                    text: string;
                    type: "text";
                } | {
                    /** Only in `user` messages */
                    source: {
                        data: string;
                        media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
                        type: "base64";
                    } | {
                        type: "url";
                        /** A data URL, or an https address, which the coordinator downloads. At most 16 images of together 3.0 MiB in a request */
                        url: string;
                    };
                    type: "image";
                } | {
                    id: string;
                    input: {
                        [key: string]: unknown;
                    };
                    name: string;
                    type: "tool_use";
                } | {
                    /** Text, or text blocks */
                    content?: string | {
                        text: string;
                        type: "text";
                    }[] | null;
                    tool_use_id: string;
                    type: "tool_result";
                } | {
                    type: "thinking";
                } | {
                    type: "redacted_thinking";
                })[];
                role: "user" | "assistant" | "system";
            }[];
            /** Slug or alias of a chat Cargo */
            model: string;
            output_config?: {
                format?: {
                    /** Same as the schema in `response_format` of a chat, with `strict: true` */
                    schema: {
                        [key: string]: unknown;
                    };
                    type: "json_schema";
                } | null;
            } | null;
            stop_sequences?: string[] | null;
            stream?: boolean | null;
            /** Text, or a list of text blocks, which are joined */
            system?: string | {
                text: string;
                type: "text";
            }[] | null;
            /** Default 1 */
            temperature?: number | null;
            /** Reasoning, which is off by default. Cargos without reasoning ignore `enabled` */
            thinking?: {
                budget_tokens?: null;
                type: "disabled";
            } | {
                budget_tokens?: null;
                type: "adaptive" | "between_tools";
            } | {
                /** Budget of reasoning tokens: 512 tokens for a value below 2048, otherwise 2048 */
                budget_tokens: number;
                type: "enabled";
            } | null;
            tool_choice?: {
                disable_parallel_tool_use?: boolean | null;
                type: "auto";
            } | {
                disable_parallel_tool_use?: boolean | null;
                type: "any";
            } | {
                disable_parallel_tool_use?: boolean | null;
                name: string;
                type: "tool";
            } | {
                type: "none";
            } | null;
            /** Client tools, at most 256 KB in total; built-in tools are not offered to the model */
            tools?: ({
                /** Description of the tool, which is part of the prompt */
                description?: string | null;
                /** JSON Schema of the input, which is an object */
                input_schema: {
                    [key: string]: unknown;
                };
                /** 1 to 64 of a-z, A-Z, 0-9, _ and - */
                name: string;
                /** Whether the job fails with `schema_unmet` if the input does not match `input_schema` */
                strict?: boolean | null;
                type?: "custom" | null;
            } | {
                type: string;
            })[] | null;
            /** 0: no limit */
            top_k?: number | null;
            top_p?: number | null;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
        };
        Model: {
            /** Slug of the Cargo if the id is an alias; otherwise null */
            alias_of: string | null;
            /** Whether a connected Island can run the Cargo now; otherwise requests wait */
            available: boolean;
            /** Paths of the endpoints that accept the model */
            capabilities: string[];
            /** Maximum number of tokens in prompt and completion together; null if unknown */
            context_length: number | null;
            /** Unix time in seconds at which the Cargo was added to the catalog */
            created: number;
            /** Whether the model is only declared: nothing proves what the engines of its hosts run */
            declared: boolean;
            /** Median time from a chat's submission to its first token, measured like `tokens_per_second` */
            first_token_ms: number | null;
            /** Number of Islands that can run the Cargo now and have a free slot */
            free: number;
            /** Repository of the model on Hugging Face; null if unknown */
            hugging_face_id: string | null;
            /** Slug or alias of the Cargo */
            id: string;
            /** Kinds of input */
            input_modalities: ("text" | "image" | "audio")[];
            /** Whether requests without `model` to an endpoint in `capabilities` use this Cargo */
            is_default: boolean;
            /** Same as `ready`, as OpenRouter names it */
            is_ready: boolean;
            /** Number of Islands that can run the Cargo now without a download */
            islands_ready: number;
            /** Same as `max_output_tokens`, as OpenRouter names it */
            max_output_length: number | null;
            /** Maximum of `max_tokens`; null if it is not a chat Cargo */
            max_output_tokens: number | null;
            /** Name of the Cargo, for people */
            name: string;
            object: "model";
            /** Kinds of output */
            output_modalities: ("text" | "image" | "audio" | "embedding")[];
            owned_by: string;
            /** Number of parameters, such as 8B; null if unknown */
            parameters: string | null;
            /** A request costs its tokens, pixels or seconds by the prices that are not null, otherwise `per_job` for each of its jobs. With such prices, `per_job` is the price of a job of the reference size */
            pricing: {
                /** Credits for a second of audio; null if the Cargo is not priced by seconds */
                audio_second: number | null;
                /** Credits for a million generated tokens; null if the Cargo does not generate tokens that have a price */
                completion: number | null;
                /** Credits for a million pixels and a step; null if the Cargo is not priced by pixels */
                megapixel_step: number | null;
                /** Credits, with up to 6 decimals */
                per_job: number;
                /** Credits for a million prompt tokens; null if prompts have no price */
                prompt: number | null;
                unit: "credits";
            };
            /** Quantisation of the weights, such as Q4_K_M; null if unknown */
            quantization: string | null;
            /** Whether such an Island needs no download first */
            ready: boolean;
            /** Whether the model reasons before its completion (`reasoning_content`, `reasoning_effort`) */
            reasoning: boolean;
            /** Abilities in chats. An engine of a host may lack some; then other Islands run the requests */
            supported_features: ("tools" | "json_mode" | "structured_outputs" | "logprobs" | "reasoning")[];
            /** Sampling parameters that chats accept */
            supported_sampling_parameters: string[];
            /** Median of the most recent 100 jobs within 24 h, measured by this coordinator since its start; null if no job was measured */
            tokens_per_second: number | null;
            /** How the prompt describes the tools: with the model's own chat template (`template`), or with a text that Atoll adds (`grammar`). In both cases, a grammar enforces the calls. Null if the Cargo does not support tool calls */
            tool_calls: "template" | "grammar" | null;
            type: "chat" | "embedding" | "rerank" | "classification" | "image" | "transcription" | "speech";
        };
        ModelIslands: {
            /** Those that have the runtime and the memory */
            fitting: number;
            online: number;
        };
        Moderation: {
            /** Id of the job of the first text */
            id: string;
            model: string;
            results: {
                /** True for scores of at least 0.5 */
                categories: {
                    harassment: boolean;
                    "harassment/threatening": boolean;
                    hate: boolean;
                    "hate/threatening": boolean;
                    illicit: boolean;
                    "illicit/violent": boolean;
                    "self-harm": boolean;
                    "self-harm/instructions": boolean;
                    "self-harm/intent": boolean;
                    sexual: boolean;
                    "sexual/minors": boolean;
                    violence: boolean;
                    "violence/graphic": boolean;
                };
                /** Empty for a category that the Cargo does not know */
                category_applied_input_types: {
                    harassment: "text"[];
                    "harassment/threatening": "text"[];
                    hate: "text"[];
                    "hate/threatening": "text"[];
                    illicit: "text"[];
                    "illicit/violent": "text"[];
                    "self-harm": "text"[];
                    "self-harm/instructions": "text"[];
                    "self-harm/intent": "text"[];
                    sexual: "text"[];
                    "sexual/minors": "text"[];
                    violence: "text"[];
                    "violence/graphic": "text"[];
                };
                /** 0 for a category that the Cargo does not know */
                category_scores: {
                    harassment: number;
                    "harassment/threatening": number;
                    hate: number;
                    "hate/threatening": number;
                    illicit: number;
                    "illicit/violent": number;
                    "self-harm": number;
                    "self-harm/instructions": number;
                    "self-harm/intent": number;
                    sexual: number;
                    "sexual/minors": number;
                    violence: number;
                    "violence/graphic": number;
                };
                /** Whether any category is true */
                flagged: boolean;
                /** Labels of the Cargo, best first, including those that are not categories of OpenAI */
                labels: {
                    label: string;
                    score: number;
                }[];
            }[];
        };
        ModerationRequest: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** A text or a list of texts. Each text is a job, and four run at once */
            input: string | (string | {
                text: string;
                type: "text";
            })[];
            /** Slug or alias of an onnx Cargo with the task `text-classification`. Default: the setting `default_moderation_cargo` */
            model?: string | null;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
        };
        Network: {
            /** Public Cargos that Islands can run now, by slug. GET /cargos lists all Cargos */
            cargos: components["schemas"]["AvailableCargo"][];
            /** False if a coordinator did not reply, so that its Islands are missing */
            is_complete: boolean;
            islands_online: number;
            /** Credits of a new account */
            new_account_credits: number;
            /** Registration of accounts: open to anyone, open with a confirmed e-mail address, or closed */
            registration: "open" | "email" | "closed";
        };
        /** Totals over all coordinators, at most 1.5 s old. The count of known Islands is cached for 1 ms per Island: with 5,000 Islands it is at most 5 s old */
        NetworkOverview: {
            coordinators: components["schemas"]["CoordinatorOverview"][];
            /** Number of jobs that failed or timed out in the last minute */
            errors_last_minute: number;
            /** Median and 99th percentile of the time from a job's submission, or its admission in a batch, to its first token, for jobs that ended in the last minute; accurate to 5 %. Null without such jobs */
            first_token_ms: {
                p50: number | null;
                p99: number | null;
            };
            /** False if a coordinator did not reply; the totals exclude it */
            is_complete: boolean;
            islands: {
                known: number;
                online: number;
            };
            jobs: {
                finished_last_minute: number;
                running: number;
                waiting: number;
            };
            /** Numbers of slots on Islands that accept new jobs */
            slots: {
                all: number;
                free: number;
            };
            tokens_per_second: number;
            waiting_by_reason: {
                jobs: number;
                reason: "own_islands_only" | "no_island_online" | "no_island_offers_runtime" | "no_island_fits" | "all_busy" | "all_refused" | "all_failing" | "model_downloading" | "starting" | "no_output" | "account_limit";
            }[];
            work_last_10_minutes: components["schemas"]["NetworkWork"];
        };
        /** Work of jobs that ended in the last 10 minutes */
        NetworkWork: {
            /** Prompt tokens that Islands had in their caches. For an agent that does not report them, the number that the coordinator expected */
            cached_prompt_tokens: number;
            /** The 20 connected Islands with the most completion tokens */
            islands: {
                cached_prompt_tokens: number;
                /** Tokens of attempts that ended */
                completion_tokens: number;
                island_id: string;
                slots: number;
            }[];
            prompt_tokens: number;
        };
        OpenAiResponse: {
            background: boolean;
            created_at: number;
            error: {
                code: "server_error" | "invalid_prompt" | "context_length_exceeded";
                message: string;
            } | null;
            id: string;
            incomplete_details: {
                reason: "max_output_tokens";
            } | null;
            instructions: string | null;
            max_output_tokens: number | null;
            metadata: {
                [key: string]: string;
            };
            model: string;
            object: "response";
            output: ({
                /** Reasoning of a Cargo that supports it */
                content: {
                    text: string;
                    type: "reasoning_text";
                }[];
                /** Opaque text that is not used; `content` has the whole reasoning */
                encrypted_content: string;
                id: string;
                status: "in_progress" | "completed" | "incomplete";
                summary: unknown[];
                type: "reasoning";
            } | {
                content: {
                    annotations: unknown[];
                    /** Log probabilities; empty unless requested */
                    logprobs: {
                        bytes: number[];
                        logprob: number;
                        token: string;
                        top_logprobs: {
                            bytes: number[];
                            logprob: number;
                            token: string;
                        }[];
                    }[];
                    text: string;
                    type: "output_text";
                }[];
                id: string;
                role: "assistant";
                status: "in_progress" | "completed" | "incomplete";
                type: "message";
            } | {
                /** JSON text */
                arguments: string;
                call_id: string;
                id: string;
                name: string;
                /** Namespace of the function, if it has one */
                namespace?: string;
                status: "in_progress" | "completed" | "incomplete";
                type: "function_call";
            })[];
            parallel_tool_calls: boolean;
            previous_response_id: string | null;
            reasoning: {
                effort: "none" | "minimal" | "low" | "medium" | "high" | null;
                summary: null;
            };
            status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
            store: boolean;
            temperature: number | null;
            text: {
                format: {
                    type: "text";
                } | {
                    type: "json_object";
                } | {
                    /** Used only in error messages */
                    name: string;
                    /** Same as in `response_format` of a chat */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** Same as in `response_format` of a chat */
                    strict?: boolean | null;
                    type: "json_schema";
                };
            };
            tool_choice: ("auto" | "none" | "required") | {
                name: string;
                type: "function";
            } | {
                mode: "auto" | "required";
                tools: {
                    name: string;
                    type: "function";
                }[];
                type: "allowed_tools";
            };
            tools: {
                description: string | null;
                name: string;
                parameters: {
                    [key: string]: unknown;
                } | null;
                strict: boolean | null;
                type: "function";
            }[];
            top_logprobs: number;
            top_p: number | null;
            truncation: "disabled";
            usage: {
                /** Credits that were charged, with up to 6 decimals */
                cost: number;
                input_tokens: number;
                input_tokens_details: {
                    cache_write_tokens: number;
                    cached_tokens: number;
                };
                output_tokens: number;
                output_tokens_details: {
                    reasoning_tokens: number;
                };
                total_tokens: number;
            } | null;
        };
        OpenAiResponseEvent: {
            response: components["schemas"]["OpenAiResponse"];
            sequence_number: number;
            type: "response.created";
        } | {
            response: components["schemas"]["OpenAiResponse"];
            sequence_number: number;
            type: "response.in_progress";
        } | {
            response: components["schemas"]["OpenAiResponse"];
            sequence_number: number;
            type: "response.completed";
        } | {
            response: components["schemas"]["OpenAiResponse"];
            sequence_number: number;
            type: "response.incomplete";
        } | {
            response: components["schemas"]["OpenAiResponse"];
            sequence_number: number;
            type: "response.failed";
        } | {
            item: {
                /** Reasoning of a Cargo that supports it */
                content: {
                    text: string;
                    type: "reasoning_text";
                }[];
                /** Opaque text that is not used; `content` has the whole reasoning */
                encrypted_content: string;
                id: string;
                status: "in_progress" | "completed" | "incomplete";
                summary: unknown[];
                type: "reasoning";
            } | {
                content: {
                    annotations: unknown[];
                    /** Log probabilities; empty unless requested */
                    logprobs: {
                        bytes: number[];
                        logprob: number;
                        token: string;
                        top_logprobs: {
                            bytes: number[];
                            logprob: number;
                            token: string;
                        }[];
                    }[];
                    text: string;
                    type: "output_text";
                }[];
                id: string;
                role: "assistant";
                status: "in_progress" | "completed" | "incomplete";
                type: "message";
            } | {
                /** JSON text */
                arguments: string;
                call_id: string;
                id: string;
                name: string;
                /** Namespace of the function, if it has one */
                namespace?: string;
                status: "in_progress" | "completed" | "incomplete";
                type: "function_call";
            };
            output_index: number;
            sequence_number: number;
            type: "response.output_item.added";
        } | {
            item: {
                /** Reasoning of a Cargo that supports it */
                content: {
                    text: string;
                    type: "reasoning_text";
                }[];
                /** Opaque text that is not used; `content` has the whole reasoning */
                encrypted_content: string;
                id: string;
                status: "in_progress" | "completed" | "incomplete";
                summary: unknown[];
                type: "reasoning";
            } | {
                content: {
                    annotations: unknown[];
                    /** Log probabilities; empty unless requested */
                    logprobs: {
                        bytes: number[];
                        logprob: number;
                        token: string;
                        top_logprobs: {
                            bytes: number[];
                            logprob: number;
                            token: string;
                        }[];
                    }[];
                    text: string;
                    type: "output_text";
                }[];
                id: string;
                role: "assistant";
                status: "in_progress" | "completed" | "incomplete";
                type: "message";
            } | {
                /** JSON text */
                arguments: string;
                call_id: string;
                id: string;
                name: string;
                /** Namespace of the function, if it has one */
                namespace?: string;
                status: "in_progress" | "completed" | "incomplete";
                type: "function_call";
            };
            output_index: number;
            sequence_number: number;
            type: "response.output_item.done";
        } | {
            content_index: number;
            item_id: string;
            output_index: number;
            part: {
                annotations: unknown[];
                /** Log probabilities; empty unless requested */
                logprobs: {
                    bytes: number[];
                    logprob: number;
                    token: string;
                    top_logprobs: {
                        bytes: number[];
                        logprob: number;
                        token: string;
                    }[];
                }[];
                text: string;
                type: "output_text";
            } | {
                text: string;
                type: "reasoning_text";
            };
            sequence_number: number;
            type: "response.content_part.added";
        } | {
            content_index: number;
            item_id: string;
            output_index: number;
            part: {
                annotations: unknown[];
                /** Log probabilities; empty unless requested */
                logprobs: {
                    bytes: number[];
                    logprob: number;
                    token: string;
                    top_logprobs: {
                        bytes: number[];
                        logprob: number;
                        token: string;
                    }[];
                }[];
                text: string;
                type: "output_text";
            } | {
                text: string;
                type: "reasoning_text";
            };
            sequence_number: number;
            type: "response.content_part.done";
        } | {
            code: string;
            message: string;
            param: null;
            sequence_number: number;
            type: "error";
        } | {
            content_index: number;
            delta: string;
            item_id: string;
            output_index: number;
            sequence_number: number;
            type: "response.reasoning_text.delta";
        } | {
            content_index: number;
            item_id: string;
            output_index: number;
            sequence_number: number;
            text: string;
            type: "response.reasoning_text.done";
        } | {
            content_index: number;
            delta: string;
            item_id: string;
            logprobs: {
                bytes: number[];
                logprob: number;
                token: string;
                top_logprobs: {
                    bytes: number[];
                    logprob: number;
                    token: string;
                }[];
            }[];
            output_index: number;
            sequence_number: number;
            type: "response.output_text.delta";
        } | {
            content_index: number;
            item_id: string;
            logprobs: {
                bytes: number[];
                logprob: number;
                token: string;
                top_logprobs: {
                    bytes: number[];
                    logprob: number;
                    token: string;
                }[];
            }[];
            output_index: number;
            sequence_number: number;
            text: string;
            type: "response.output_text.done";
        } | {
            delta: string;
            item_id: string;
            output_index: number;
            sequence_number: number;
            type: "response.function_call_arguments.delta";
        } | {
            arguments: string;
            item_id: string;
            name: string;
            output_index: number;
            sequence_number: number;
            type: "response.function_call_arguments.done";
        };
        /** Totals over all coordinators, at most 1.5 s old. The count of known Islands is cached for 1 ms per Island: with 5,000 Islands it is at most 5 s old */
        OverviewEvent: {
            coordinators: components["schemas"]["CoordinatorOverview"][];
            /** Number of jobs that failed or timed out in the last minute */
            errors_last_minute: number;
            /** Median and 99th percentile of the time from a job's submission, or its admission in a batch, to its first token, for jobs that ended in the last minute; accurate to 5 %. Null without such jobs */
            first_token_ms: {
                p50: number | null;
                p99: number | null;
            };
            /** False if a coordinator did not reply; the totals exclude it */
            is_complete: boolean;
            islands: {
                known: number;
                online: number;
            };
            jobs: {
                finished_last_minute: number;
                running: number;
                waiting: number;
            };
            /** Numbers of slots on Islands that accept new jobs */
            slots: {
                all: number;
                free: number;
            };
            tokens_per_second: number;
            type: "overview";
            waiting_by_reason: {
                jobs: number;
                reason: "own_islands_only" | "no_island_online" | "no_island_offers_runtime" | "no_island_fits" | "all_busy" | "all_refused" | "all_failing" | "model_downloading" | "starting" | "no_output" | "account_limit";
            }[];
            work_last_10_minutes: components["schemas"]["NetworkWork"];
        };
        OwnedCargo: {
            accept_limit_s?: number;
            adapters?: {
                scale?: number;
                sha256: string;
                size_bytes?: number | null;
                url: string;
            }[];
            /** Whether the operator approved the Cargo. Before that, only its owner can see and run it */
            approved: boolean;
            args?: string[];
            category: "llm" | "image" | "audio" | "vision" | "text" | "utility";
            container?: {
                command: string[] | null;
                digest: string | null;
                gpu: boolean;
                image: string;
                network: boolean;
            };
            context_tokens: number | null;
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            description: string;
            enabled: boolean;
            /** At most 16384 bytes as JSON */
            example_input: {
                [key: string]: unknown;
            };
            first_output_limit_s?: number;
            input_schema?: {
                [key: string]: unknown;
            };
            keep_alive_s?: number;
            licence: string;
            max_output_bytes?: number;
            memory?: {
                head_dim: number;
                kv_heads: number;
                layers: number;
                sequences: number;
                vocabulary: number;
            } | {
                working_mb: number;
            };
            min_trust?: "any" | "proven" | "own";
            model: {
                sha256: string | null;
                size_bytes: number | null;
                url: string;
            } | null;
            name: string;
            onnx_task_type: string | null;
            output_schema?: {
                [key: string]: unknown;
            };
            parameters?: string;
            parts?: {
                sha256: string;
                size_bytes: number;
                url: string;
            }[];
            price_per_job: number;
            pricing?: {
                completion: number;
                prompt: number;
                reference?: {
                    completion_tokens: number;
                    prompt_tokens: number;
                };
            } | {
                prompt: number;
                reference?: {
                    prompt_tokens: number;
                };
            } | {
                megapixel_step: number;
                reference?: {
                    height: number;
                    steps: number;
                    width: number;
                };
            } | {
                audio_second: number;
                reference?: {
                    seconds: number;
                };
            };
            projector?: {
                sha256: string;
                size_bytes: number;
                url: string;
            };
            quantization?: string;
            reads_images?: boolean;
            reasoning?: boolean;
            required_ram_mb: number;
            required_vram_mb: number;
            /** Version number, starting at 1 */
            revision: number;
            run_limit_s: number;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
            silence_limit_s?: number;
            slug: string;
            start_limit_s?: number;
            task?: "feature-extraction" | "text-ranking";
            tools?: "template" | "grammar";
            /** Time in UTC, as ISO 8601 */
            updated_at: string;
            wait_limit_s: number;
            weights?: "fp32" | "fp16" | "int8" | "uint8" | "q8" | "q4" | "q4f16" | "bnb4";
        };
        PairingCode: {
            /** Eight letters and digits, without 0, 1, I and O */
            code: string;
            /** Time in UTC, as ISO 8601 */
            expires_at: string;
            /** Name of the token for which the code is exchanged */
            name: string;
        };
        /** Why the Island of the current attempt was chosen, from the memory of its coordinator. Null without an operator's session, without a choice, for all but the coordinator's latest 2,000 jobs, and for ended jobs of other coordinators */
        Placement: {
            /** The Islands that were compared, the cheapest first */
            candidates: components["schemas"]["CandidateCost"][];
            /** The chosen Island */
            island_id: string | null;
            /** `cost`: the Island's cost was lowest, or close to it. `trial`: to measure the Island */
            reason: "cost" | "trial" | null;
            /** The busy Island of which a slot is reserved for the waiting job */
            reserved_island_id: string | null;
        };
        PostMessage: {
            content: string;
            frequency_penalty?: number | null;
            /** By ids of the model's own vocabulary, at most 300; -100 excludes a token */
            logit_bias?: {
                [key: string]: number;
            } | null;
            max_completion_tokens?: number | null;
            /** Default 1024. Values above the Cargo's context are lowered to it, or to 4096 if that is more */
            max_tokens?: number | null;
            min_p?: number | null;
            presence_penalty?: number | null;
            /** Divides the logits of tokens already in the completion; 1: no penalty */
            repeat_penalty?: number | null;
            response_format?: {
                type: "text";
            } | {
                type: "json_object";
            } | {
                json_schema: {
                    /** Used only in error messages */
                    name?: string;
                    /** A JSON Schema */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** Validate afterwards the keywords that the grammar cannot enforce */
                    strict?: boolean | null;
                };
                type: "json_schema";
            } | null;
            /** The same seed gives the same completion on the same engine and model */
            seed?: number | null;
            stop?: string | string[] | null;
            stream?: boolean | null;
            /** Default 0.7 */
            temperature?: number | null;
            /** Not supported; must be null */
            tools?: null;
            /** 0: no limit */
            top_k?: number | null;
            top_p?: number | null;
        };
        Pricing: {
            /** Credits for a second of audio; null if the Cargo is not priced by seconds */
            audio_second: number | null;
            /** Credits for a million generated tokens; null if the Cargo does not generate tokens that have a price */
            completion: number | null;
            /** Credits for a million pixels and a step; null if the Cargo is not priced by pixels */
            megapixel_step: number | null;
            /** Credits for a million prompt tokens; null if prompts have no price */
            prompt: number | null;
            /** Size of the job that costs `price_per_job` */
            reference: {
                audio_seconds: number | null;
                completion_tokens: number | null;
                megapixel_steps: number | null;
                prompt_tokens: number | null;
            };
        };
        ProgressEvent: {
            step: number;
            total: number;
            type: "progress";
        };
        QueueLine: {
            jobs: number;
            /** Why the oldest job waits, according to the coordinator that has the most of these jobs */
            message: string;
            /** Id of the only account whose Islands may run the jobs, because the Cargo is not approved; null if all Islands may */
            only_islands_of: string | null;
            reason: "own_islands_only" | "no_island_online" | "no_island_offers_runtime" | "no_island_fits" | "all_busy" | "all_refused" | "all_failing" | "model_downloading" | "starting" | "no_output" | "account_limit";
            /** When the oldest job started to wait */
            waiting_since: string;
            workload_slug: string;
        };
        /** Reasoning that the model wrote before its completion */
        ReasoningEvent: {
            /** Reasoning to append */
            content: string;
            type: "reasoning";
        };
        Recommendation: {
            /** 10 for each waiting job, and 2 for each job completed in the last hour */
            demand_score: number;
            /** Credits, as a decimal number */
            estimated_earnings_per_job: string;
            /** Whether chats without `model` use the Cargo */
            is_default: boolean;
            /** SHA-256 of the model, or digest of the image; null if it is not pinned */
            model_hash: string | null;
            model_url: string;
            /** Number of jobs that wait for the Cargo */
            queued_demand: number;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
            workload_slug: string;
        };
        RenameIsland: {
            /** New name; an empty name restores the default */
            name: string;
        };
        Reranking: {
            /** Id of the job */
            id: string;
            /** `usage` in the format of Cohere's API */
            meta: {
                tokens: {
                    input_tokens: number;
                    output_tokens: 0;
                };
            };
            model: string;
            object: "list";
            /** Results, best first */
            results: {
                document?: {
                    text: string;
                };
                /** Index of the document in the request */
                index: number;
                /** Score from the reranking Cargo, or (1 + cosine of the two vectors) / 2, from 0 to 1. Compare scores only within one response */
                relevance_score: number;
            }[];
            usage: {
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        RerankRequest: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            documents: (string | {
                text: string;
            })[];
            /** Slug or alias of a Cargo with the task `text-ranking` or `feature-extraction`. Default: the setting `default_rerank_cargo` */
            model?: string | null;
            query: string;
            /** Default false */
            return_documents?: boolean | null;
            /** Number of results to return. Default: all */
            top_n?: number | null;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
        };
        /** First event of each stream, also sent when events may have been missed. Read your lists again; later changes follow as events */
        ResetEvent: {
            type: "reset";
        };
        ResponseRequest: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** Return at once and run without the client, which polls `GET /responses/{id}`. Cannot be combined with `stream` or `store: false` */
            background?: boolean | null;
            /** `reasoning.encrypted_content` has an effect only for Cargos with reasoning */
            include?: ("message.output_text.logprobs" | "reasoning.encrypted_content" | "file_search_call.results" | "web_search_call.results" | "web_search_call.action.sources" | "message.input_image.image_url" | "computer_call_output.output.image_url" | "code_interpreter_call.outputs")[] | null;
            /** At most 16384 parts in total */
            input: string | ({
                /** Text, or a list of parts; text parts are joined */
                content: string | ({
                    text: string;
                    type: "input_text" | "output_text" | "text";
                } | {
                    /** As `image_url.url` of a chat completion. Only in `user` messages */
                    image_url: string;
                    type: "input_image";
                })[];
                role: "user" | "assistant" | "system" | "developer";
                type?: "message" | null;
            } | {
                /** JSON text */
                arguments: string;
                call_id: string;
                name: string;
                namespace?: string | null;
                type: "function_call";
            } | {
                call_id: string;
                /** The model receives `{"input": …}` */
                input: string;
                name: string;
                namespace?: string | null;
                type: "custom_tool_call";
            } | {
                /** The model receives it as JSON */
                action: {
                    [key: string]: unknown;
                };
                call_id: string;
                type: "local_shell_call";
            } | {
                call_id: string;
                output: string | {
                    text: string;
                    type: "input_text" | "output_text" | "text";
                }[];
                type: "function_call_output" | "custom_tool_call_output";
            } | {
                type: "reasoning" | "web_search_call" | "file_search_call" | "code_interpreter_call";
            } | {
                /** Id of an item of a stored response */
                id: string;
                type: "item_reference";
            })[];
            instructions?: string | null;
            /** Default 1024. Values above the Cargo's context are lowered to it, or to 4096 if that is more */
            max_output_tokens?: number | null;
            /** At most 16 entries */
            metadata?: {
                [key: string]: string;
            } | null;
            /** Default: the operator's default chat Cargo */
            model?: string | null;
            /** Default true: up to 16 tool calls; a named function is called once */
            parallel_tool_calls?: boolean | null;
            /** Id of a stored response that is completed or incomplete. Its conversation, without its instructions, precedes `input` */
            previous_response_id?: string | null;
            reasoning?: {
                /** Effort of reasoning. A Cargo without reasoning ignores it, and `Atoll-Ignored` names it */
                effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
            } | null;
            /** Whether input and output stay stored when the response ends. Default: true */
            store?: boolean | null;
            stream?: boolean | null;
            /** Default 0.7 */
            temperature?: number | null;
            text?: {
                format?: {
                    type: "text";
                } | {
                    type: "json_object";
                } | {
                    /** Used only in error messages */
                    name: string;
                    /** Same as in `response_format` of a chat */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** Same as in `response_format` of a chat */
                    strict?: boolean | null;
                    type: "json_schema";
                } | null;
            } | null;
            tool_choice?: ("auto" | "none" | "required") | {
                name: string;
                namespace?: string | null;
                type: "function";
            } | {
                mode: "auto" | "required";
                tools: {
                    name: string;
                    namespace?: string | null;
                    type: "function";
                }[];
                type: "allowed_tools";
            } | null;
            /** Functions and namespaces of functions, at most 256 KB in total */
            tools?: ({
                /** Description of the tool, which is part of the prompt */
                description?: string | null;
                /** 1 to 64 of a-z, A-Z, 0-9, _ and - */
                name: string;
                /** JSON Schema of the arguments, which are an object */
                parameters?: {
                    [key: string]: unknown;
                } | null;
                /** Whether the job fails with `schema_unmet` if the arguments do not match `parameters` */
                strict?: boolean | null;
                type: "function";
            } | {
                description?: string | null;
                name: string;
                /** Functions of a namespace; the model sees `lookup` of `crm` as `crm__lookup` */
                tools: ({
                    /** Description of the tool, which is part of the prompt */
                    description?: string | null;
                    /** 1 to 64 of a-z, A-Z, 0-9, _ and - */
                    name: string;
                    /** JSON Schema of the arguments, which are an object */
                    parameters?: {
                        [key: string]: unknown;
                    } | null;
                    /** Whether the job fails with `schema_unmet` if the arguments do not match `parameters` */
                    strict?: boolean | null;
                    type: "function";
                } | {
                    type: string;
                })[];
                type: "namespace";
            } | {
                type: string;
            })[] | null;
            /** `max_tokens` × (`top_logprobs` + 1) may be at most 100000 */
            top_logprobs?: number | null;
            top_p?: number | null;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
        };
        Session: {
            account: components["schemas"]["Account"];
            /** Time in UTC, as ISO 8601 */
            expires_at: string;
            /** Session token (st_…), which has every scope and can manage keys */
            token: string;
        };
        SetAccountLimits: {
            /** If omitted, the limit does not change; null restores the default */
            concurrent_jobs?: number | null;
            /** If omitted, the limit does not change; null restores the default */
            concurrent_streams?: number | null;
            /** If omitted, the limit does not change; null restores the default */
            requests_per_minute?: number | null;
            /** If omitted, the limit does not change; null restores the default */
            share?: number | null;
        };
        SetCargoPrice: {
            /** New price; null restores the shipped price */
            price_per_job: number | null;
        };
        SetStanding: {
            /** Reason that the owner sees */
            reason: string;
            state: "new" | "proven" | "trusted" | "quarantined";
        };
        SettingInForce: {
            allowed: string;
            /** Default value, or the meaning if the setting is not set */
            default: string;
            /** Name of the environment variable */
            environment: string;
            key: string;
            meaning: string;
            source: "flag" | "environment" | "file" | "default";
            /** Value in the unit of the key; `(hidden)` for a secret; null if the setting is not set */
            value: string | null;
        };
        SignedCargo: {
            args: string[] | null;
            /** Command of the container; null if the image's own command runs */
            command: string[] | null;
            gpu: boolean;
            image: string | null;
            /** Digest of the image; null if the Cargo has no image, or only a tag names it */
            image_digest: string | null;
            model_bytes: number | null;
            model_commit: string | null;
            model_hash: string | null;
            model_url: string | null;
            /** Whether the job can reach the public internet */
            network: boolean;
            /** Credits, with up to 6 decimals */
            price_per_job: number;
            required_ram_mb: number;
            required_vram_mb: number;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
        };
        SpeechEvent: {
            /** The next bytes of the file, in base64 */
            audio: string;
            type: "speech.audio.delta";
        } | {
            type: "speech.audio.done";
            usage: {
                input_tokens: number;
                output_tokens: number;
                total_tokens: number;
            };
        };
        SpeechRequest: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** Text to speak. A long text is split between sentences into several jobs */
            input: string;
            /** Slug or alias of a speech Cargo. Default: the setting `default_speech_cargo` */
            model?: string | null;
            /** Audio format. Default: `mp3`. `pcm` is 24 kHz, 16 bit, mono, little-endian */
            response_format?: "mp3" | "wav" | "pcm" | null;
            /** Speed of the speech. Default: 1. A Cargo with only one speed refuses any other value with 422 */
            speed?: number | null;
            /** Default `audio` */
            stream_format?: "audio" | "sse" | null;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
            /** A voice of the Cargo. Any other voice, including those of OpenAI, is refused with 422. Default: `default`, the Cargo's first voice */
            voice?: string | null;
        };
        /** What audits found out about the owner's Islands with one Cargo */
        Standing: {
            /** Numbers of audits by verdict, for jobs of the last 90 days */
            audits: {
                consistent: number;
                inconsistent: number;
                unclear: number;
            };
            /** Slug of the Cargo */
            cargo: string;
            /** Earnings that are held until audits confirm the owner's answers */
            held_credits: number;
            /** Number of consistent audits in a row after which a new owner is proven */
            proven_after: number;
            /** Reason of the last change by an operator, or of the quarantine; else null */
            reason: string | null;
            /** `new`: each answer that can be judged is audited, and earnings are held. `proven`: some answers are audited, and earnings are held for at most a day. `trusted`: nothing is audited or held. `quarantined`: the owner's Islands get no jobs of the Cargo */
            state: "new" | "proven" | "trusted" | "quarantined";
            /** Number of consistent audits in a row */
            streak: number;
        };
        /** A change of state. Until there is output, the current state is sent immediately and then every 5 s, with a `message` that says why the job waits. These repeats reuse the previous event's id */
        StatusEvent: {
            /** Why there is no output yet */
            message?: string;
            /** Progress of the model's download in percent, if it is known */
            percent?: number;
            /** `streaming` means that output follows */
            state: "pending" | "queued" | "running" | "streaming";
            type: "status";
        };
        SubmitBatch: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** With `fail_fast`, the first job that fails or times out cancels the others. With `best_effort`, all jobs run */
            fail_mode?: "best_effort" | "fail_fast";
            /** Inputs, each of which becomes a job */
            inputs: {
                [key: string]: unknown;
            }[];
            /** Order of the account's jobs: a higher priority starts earlier and may cost more */
            priority?: number;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
            /** Secret that signs the POST: `whsec_` and 24 to 64 bytes in base64. Default: a generated secret, which only this response contains */
            webhook_secret?: string;
            /** URL that receives a signed POST (Standard Webhooks) when the job or batch ends. Must be https and not a private address */
            webhook_url?: string;
            /** Cargo slug */
            workload: string;
        };
        SubmitJob: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** Parameters of the job; the Cargo's `input_schema` defines them */
            input: {
                [key: string]: unknown;
            };
            /** Order of the account's jobs: a higher priority starts earlier and may cost more */
            priority?: number;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
            /** Secret that signs the POST: `whsec_` and 24 to 64 bytes in base64. Default: a generated secret, which only this response contains */
            webhook_secret?: string;
            /** URL that receives a signed POST (Standard Webhooks) when the job or batch ends. Must be https and not a private address */
            webhook_url?: string;
            /** Cargo slug */
            workload: string;
        };
        SubmittedBatch: {
            /** Time in UTC, as ISO 8601 */
            completed_at: string | null;
            counts: components["schemas"]["BatchCounts"];
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            fail_mode: "best_effort" | "fail_fast";
            id: string;
            /** Jobs, in the order of the inputs */
            jobs: components["schemas"]["BatchJob"][];
            /** `output_offset` of the next request, present only with `include=output`; null if there are no further outputs */
            next_output_offset?: number | null;
            priority: number;
            /** `pending` means that no job has started. `failed` means that all jobs have ended and at least one failed or timed out */
            status: "pending" | "running" | "completed" | "failed" | "cancelled";
            webhook: components["schemas"]["WebhookLog"] | null;
            /** The generated webhook secret, returned only here and in repeats with the same `Idempotency-Key` */
            webhook_secret?: string;
            workload_id: number;
            workload_slug: string;
        };
        SubmittedJob: {
            /** Time in UTC, as ISO 8601 */
            created_at: string;
            id: string;
            input: {
                [key: string]: unknown;
            };
            status: "submitted";
            /** The generated webhook secret, returned only here and in repeats with the same `Idempotency-Key` */
            webhook_secret?: string;
            workload_id: number;
            workload_slug: string;
        };
        Suspend: {
            /** Reason that is shown to the suspended account */
            reason: string;
        };
        Suspension: {
            reason: string;
            /** Time in UTC, as ISO 8601 */
            since: string;
        };
        TextCompletion: {
            choices: {
                finish_reason: "stop" | "length" | "tool_calls" | null;
                index: number;
                logprobs: null;
                text: string;
            }[];
            created: number;
            id: string;
            model: string;
            object: "text_completion";
            /** Usage; in a stream only in the last chunk, and only if requested */
            usage?: {
                completion_tokens: number;
                /** Credits that were charged, with up to 6 decimals */
                cost: number;
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        TextCompletionEvent: components["schemas"]["TextCompletion"] | components["schemas"]["ChatCompletionError"] | "[DONE]";
        TextCompletionRequest: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** Whether each text begins with its prompt */
            echo?: boolean | null;
            frequency_penalty?: number | null;
            /** By ids of the model's own vocabulary, at most 300; -100 excludes a token */
            logit_bias?: {
                [key: string]: number;
            } | null;
            /** Maximum number of generated tokens, lowered to what the Cargo can generate. Default: 16 */
            max_tokens?: number | null;
            min_p?: number | null;
            /** Slug or alias of a chat Cargo */
            model: string;
            presence_penalty?: number | null;
            /** Text that the model continues without its chat template. Each text of a list is a separate job, and four run at once. Lists of token ids are refused */
            prompt: string | string[];
            /** Divides the logits of tokens already in the completion; 1: no penalty */
            repeat_penalty?: number | null;
            /** The same seed gives the same completion on the same engine and model */
            seed?: number | null;
            stop?: string | string[] | null;
            /** Whether the response is a stream; allowed only with one prompt */
            stream?: boolean | null;
            stream_options?: {
                include_usage?: boolean | null;
            } | null;
            /** Default 0.7 */
            temperature?: number | null;
            /** 0: no limit */
            top_k?: number | null;
            top_p?: number | null;
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
        };
        TokenEvent: {
            /** Text to append */
            content: string;
            type: "token";
        };
        /** A part of a tool call */
        ToolCallEvent: {
            /** JSON text to append to the arguments */
            arguments: string;
            /** Id of the tool call, only in its first part */
            id?: string;
            /** Index of the tool call in the completion, starting at 0 */
            index: number;
            /** Name of the tool, only in the first part of the call */
            name?: string;
            type: "tool_call";
        };
        Transcription: {
            /** Duration of the recording in seconds */
            duration?: number;
            /** The requested language */
            language?: string;
            segments?: {
                end: number;
                id: number;
                start: number;
                text: string;
            }[];
            /** Task; present only with `verbose_json`, like `language`, `duration`, `segments` and `words` */
            task?: "transcribe" | "translate";
            text: string;
            usage: {
                seconds: number;
                type: "duration";
            };
            words?: {
                end: number;
                start: number;
                word: string;
            }[];
        };
        TranscriptionForm: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** A WAV file of at most 25 MB, about 13 minutes at 16 kHz and 16 bit */
            file: string;
            /** Code or English name of the spoken language. By default, the Cargo detects the language */
            language?: string;
            /** Slug or alias of a transcription Cargo. Default: the setting `default_transcription_cargo` */
            model?: string;
            response_format?: "json" | "text" | "srt" | "vtt" | "verbose_json";
            /** Kind of timestamps. Default: `segment`. Requires `verbose_json`; a Cargo without timestamps refuses it with 422 */
            "timestamp_granularities[]"?: ("segment" | "word")[];
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
        };
        TranslationForm: {
            /** `never`: no other Island reads the prompt and the answer for an audit, and the charge is not refunded if the Island is found to lie. Default: `default` */
            audit?: "default" | "never" | null;
            /** A WAV file of at most 25 MB, about 13 minutes at 16 kHz and 16 bit */
            file: string;
            /** Slug or alias of a transcription Cargo. Default: the setting `default_transcription_cargo` */
            model?: string;
            response_format?: "json" | "text" | "srt" | "vtt" | "verbose_json";
            /** Islands that may run the job. `proven`: those of proven or trusted owners. `own`: yours. Default: the API key's trust. The Cargo may demand more */
            trust?: "any" | "proven" | "own" | null;
        };
        /** Omitted fields do not change; a null `title` removes the title */
        UpdateConversation: {
            /** Data for the client's own use, at most 16 entries */
            metadata?: {
                [key: string]: string;
            };
            title?: string | null;
        };
        UploadFile: {
            "expires_after[anchor]"?: "created_at";
            "expires_after[seconds]"?: number;
            /** The file */
            file: string;
            /** Purpose of the file. The input of a batch needs `batch`; any other use accepts every purpose */
            purpose: "assistants" | "batch" | "evals" | "fine-tune" | "user_data" | "vision";
        };
        Usage: {
            completion_tokens: number;
            /** Credits, with up to 6 decimals */
            credits_used: number;
            prompt_tokens: number;
            total_tokens: number;
        };
        UsageLine: {
            /** API key that submitted the jobs; null for a session and for earnings */
            api_key_id: string | null;
            completion_tokens: number;
            /** Credits, with up to 6 decimals */
            credits: number;
            /** UTC day on which the jobs ended */
            day: string | null;
            /** Number of jobs with a charge or an earning */
            jobs: number;
            /** `spent`: charged for jobs. `earned`: earned by Islands of the account */
            kind: "spent" | "earned";
            prompt_tokens: number;
            workload_slug: string | null;
        };
        /** Audit of the answer by Islands of other owners. Null before the end of the job, if its Island's owner was paid at once, and 90 days after the end */
        Verification: {
            /** Number of readings of the answer by Islands of other owners */
            readers: number;
            /** Whether the client got the whole charge back */
            refunded: boolean;
            /** `not_chosen`: the job was not chosen for an audit. `pending`: the audit has not ended. `consistent`: the answer is one that the model gives. `inconsistent`: it is not. `unclear`: no reader was found, or the readers could not judge */
            verdict: "not_chosen" | "pending" | "consistent" | "inconsistent" | "unclear";
        };
        /** Why the job has not started or has no output yet; null for any other job */
        Waiting: {
            /** The reason as a sentence */
            message: string;
            /** Progress of the model's download in percent, if it is known */
            percent: number | null;
            /** What the assigned Island must do before the job runs; null while no Island is assigned */
            phase: "accept" | "start" | "first_output" | "silence" | null;
            /** Position in the queue of the job's Cargo; the job at position 1 is next */
            position: number;
            reason: "own_islands_only" | "no_island_online" | "no_island_offers_runtime" | "no_island_fits" | "all_busy" | "all_refused" | "all_failing" | "model_downloading" | "starting" | "no_output" | "account_limit";
        };
        WebhookLog: {
            /** The ten most recent delivery attempts, oldest first */
            attempts: {
                /** Time in UTC, as ISO 8601 */
                at: string;
                error: string | null;
                /** HTTP status; null if the receiver sent none */
                status: number | null;
            }[];
            /** `waiting`: the job or batch has not ended. `pending`: it is not delivered yet. `failed`: delivery was abandoned after a day or after a 410 */
            state: "waiting" | "pending" | "delivered" | "failed";
            url: string;
        };
    };
}
/** Operations by method and path. */
export interface calls {
    /** Get the caller's account and credits */
    "get /account": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Account"];
                };
            };
        };
    };
    /** Delete the account permanently. Needs a session and the password. Unfinished jobs are cancelled, and keys, sessions and Island tokens end at once. Inputs, outputs, conversations, Cargos and the e-mail address are removed. Remaining credits return to the network. The account's id, its ledger and its jobs' times, Cargo, state, tokens and charge are kept for accounting. */
    "delete /account": {
        requestBody: {
            "application/json": {
                password: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        deleted: true;
                        id: string;
                        /** Data that is kept for accounting, under the account's id */
                        kept: string[];
                    };
                };
            };
        };
    };
    /** Change the password or the e-mail address. Needs a session and the current password. A new password ends all other sessions and discards an unconfirmed e-mail address; API keys stay. If the coordinator sends e-mail, a new address is kept in `pending_email` until it is confirmed with the mailed token (POST /auth/email, within an hour); the response does not reveal whether another account has the address. Otherwise it takes effect at once, and an address in use is 422 email_taken. */
    "patch /account": {
        requestBody: {
            "application/json": components["schemas"]["ChangeAccount"];
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        /** Time in UTC, as ISO 8601 */
                        created_at: string;
                        /** Credits, with up to 6 decimals */
                        credits: number;
                        email: string;
                        id: string;
                        /** New e-mail address that is not confirmed yet */
                        pending_email: string | null;
                        role: "user" | "operator";
                    };
                };
            };
        };
    };
    /** List your own Cargos and their approval, sorted by slug */
    "get /account/cargos": {
        parameters: {
            query?: {
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["OwnedCargo"][];
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** List changes of the account's credits, newest first. The `amount` of all entries adds up to the account's `credits`, and `held` to the credits held for unfinished jobs. */
    "get /account/ledger": {
        parameters: {
            query?: {
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["LedgerLine"][];
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** Change the password. Needs a session. All other sessions of the account end; API keys stay. */
    "post /account/password": {
        requestBody: {
            "application/json": {
                current: string;
                new: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        password_changed: true;
                    };
                };
            };
        };
    };
    /** Get spending and earnings by day, Cargo and API key. Lines are sorted by day, newest first, then by kind, Cargo and key. They cover all charges and earnings of the last 400 days. A member is null if `by` does not name it. */
    "get /account/usage": {
        parameters: {
            query?: {
                /** Id of an API key */
                api_key?: string;
                /** Comma-separated list of day, workload, api_key; an empty list groups only by kind */
                by?: string;
                /** First day, in UTC. Default: 30 days up to the last day */
                from?: string;
                kind?: "spent" | "earned";
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
                /** Last day, in UTC; the range has at most 366 days. Default: today */
                to?: string;
                /** Cargo slug */
                workload?: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["UsageLine"][];
                    meta: {
                        /** Credits earned, over all pages */
                        earned: number;
                        from: string;
                        limit: number;
                        offset: number;
                        /** Credits spent, over all pages */
                        spent: number;
                        to: string;
                        total: number;
                    };
                };
            };
        };
    };
    /** List announcements of the operators, newest first */
    "get /announcements": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Announcement"][];
                };
            };
        };
    };
    /** List API keys that are not revoked, newest first */
    "get /api-keys": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["ApiKey"][];
                };
            };
        };
    };
    /** Create an API key. An account can have 50 keys; more are refused with 422 too_many_keys. A revoked key counts for one more minute. A key with limits cannot create or change keys, and can revoke only itself. */
    "post /api-keys": {
        requestBody: {
            "application/json": components["schemas"]["CreateApiKey"];
        };
        responses: {
            201: {
                "application/json": components["schemas"]["CreatedApiKey"];
            };
        };
    };
    /** Revoke an API key at once */
    "delete /api-keys/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        id: string;
                        revoked: true;
                    };
                };
            };
        };
    };
    /** Change the name, the limits and the trust of an API key. Omitted members do not change; null removes a limit or the trust. Changes apply from the next request on. A new credits_per_month includes what the key's jobs already cost this month. */
    "patch /api-keys/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["ChangeApiKey"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["ApiKey"];
                };
            };
        };
    };
    /** Generate speech from a text. A speech Cargo generates the audio. A long text is split between sentences into several jobs, which run one after the other; the audio of each is sent as soon as it is ready. If the client disconnects, the jobs are cancelled. If a later job fails, the connection is closed. */
    "post /audio/speech": {
        requestBody: {
            "application/json": components["schemas"]["SpeechRequest"];
        };
        responses: {
            200: {
                "audio/mpeg": string;
                "audio/pcm": string;
                "audio/wav": string;
                "text/event-stream": components["schemas"]["SpeechEvent"];
            };
        };
    };
    /** Transcribe speech. A transcription Cargo processes the recording as one job. If the client disconnects, the job is cancelled. */
    "post /audio/transcriptions": {
        requestBody: {
            "multipart/form-data": components["schemas"]["TranscriptionForm"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["Transcription"];
                "text/plain": string;
            };
        };
    };
    /** Translate speech into English text. A transcription Cargo processes the recording as one job. If the client disconnects, the job is cancelled. */
    "post /audio/translations": {
        requestBody: {
            "multipart/form-data": components["schemas"]["TranslationForm"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["Transcription"];
                "text/plain": string;
            };
        };
    };
    /** Confirm a new e-mail address with a mailed token. The token works once, within an hour, and does not need a session. The old address is notified. */
    "post /auth/email": {
        requestBody: {
            "application/json": {
                /** Token (ep_…) from the e-mail */
                token: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        email_changed: true;
                    };
                };
            };
        };
    };
    /** Start a session. An account can have 20 sessions; a new one ends the oldest. */
    "post /auth/login": {
        parameters: {
            header?: {
                /** With this header, the token comes in a cookie that no script can read, instead of in the body. Only for pages of the coordinator itself */
                "atoll-console"?: "1";
            };
        };
        requestBody: {
            "application/json": components["schemas"]["Credentials"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Session"] | components["schemas"]["CookieSession"];
                };
            };
        };
    };
    /** End the session of the request's token or cookie */
    "post /auth/logout": {
        responses: {
            200: {
                "application/json": {
                    data: {
                        logged_out: true;
                    };
                };
            };
        };
    };
    /** Get a password reset by e-mail. The response is the same whether or not the address has an account. The mailed token is valid for an hour. 403 if the coordinator does not send e-mail; its operator can create a reset token. */
    "post /auth/password/forgot": {
        requestBody: {
            "application/json": {
                email: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        accepted: true;
                    };
                };
            };
        };
    };
    /** Set a new password with a reset token. The token works once. All sessions of the account end; API keys stay. */
    "post /auth/password/reset": {
        requestBody: {
            "application/json": {
                new: string;
                /** Token (pr_…) from the e-mail or from the operator */
                token: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        password_changed: true;
                    };
                };
            };
        };
    };
    /** Create an account. If the operator requires a confirmed address, the response is 202, whether or not the address has an account. The e-mail has a token for POST /auth/verify, which sets the password. */
    "post /auth/register": {
        parameters: {
            header?: {
                /** With this header, the token comes in a cookie that no script can read, instead of in the body. Only for pages of the coordinator itself */
                "atoll-console"?: "1";
            };
        };
        requestBody: {
            "application/json": components["schemas"]["Credentials"];
        };
        responses: {
            201: {
                "application/json": {
                    data: components["schemas"]["Session"] | components["schemas"]["CookieSession"];
                };
            };
            202: {
                "application/json": {
                    data: {
                        accepted: true;
                    };
                };
            };
        };
    };
    /** Create an account with a mailed token. The token works once, within an hour. */
    "post /auth/verify": {
        parameters: {
            header?: {
                /** With this header, the token comes in a cookie that no script can read, instead of in the body. Only for pages of the coordinator itself */
                "atoll-console"?: "1";
            };
        };
        requestBody: {
            "application/json": components["schemas"]["EmailProof"];
        };
        responses: {
            201: {
                "application/json": {
                    data: components["schemas"]["Session"] | components["schemas"]["CookieSession"];
                };
            };
        };
    };
    /** List the Cargos that Islands can run now. Cargos that no connected Island can run are not listed; their jobs wait. The counts are at most 5 s old, and each coordinator counts at most 100 Islands per Cargo. To see why a job waits, get the job. */
    "get /availability": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["AvailableCargo"][];
                    /** False if a coordinator did not reply, so that its Islands are missing */
                    is_complete: boolean;
                };
            };
        };
    };
    /** List batches, newest first */
    "get /batches": {
        parameters: {
            query?: {
                /** Id of the last batch of the previous page */
                after?: string;
                limit?: number;
            };
        };
        responses: {
            200: {
                "application/json": components["schemas"]["FileBatchList"];
            };
        };
    };
    /** Run every request of a JSONL file. Each line of the file is a request to the endpoint and runs as its jobs. The file is validated in the background, and the results are files. To submit jobs of one Cargo directly, use `POST /jobs/batch`. */
    "post /batches": {
        requestBody: {
            "application/json": components["schemas"]["CreateFileBatch"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["FileBatch"];
            };
        };
    };
    /** Get a batch and its progress */
    "get /batches/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": components["schemas"]["FileBatch"];
            };
        };
    };
    /** Cancel a batch. Results of finished lines stay in the result files. No-op if the batch has ended. */
    "post /batches/{id}/cancel": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": components["schemas"]["FileBatch"];
            };
        };
    };
    /** List enabled and approved Cargos, sorted by slug */
    "get /cargos": {
        parameters: {
            query?: {
                category?: "llm" | "image" | "audio" | "vision" | "text" | "utility";
                runtime_type?: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | "engine";
            };
        };
        responses: {
            200: {
                "application/json": {
                    cargos: components["schemas"]["Cargo"][];
                    count: number;
                };
            };
        };
    };
    /** Create your own Cargo. Only you can see and run the Cargo until the operator approves it. docs/reference/cargo-format.md explains its fields, which have at most 65,536 bytes as JSON. An account can have at most 50 Cargos at a time and 1,000 slugs in total. */
    "post /cargos": {
        requestBody: {
            "application/json": components["schemas"]["CreateCargo"];
        };
        responses: {
            201: {
                "application/json": {
                    data: components["schemas"]["OwnedCargo"];
                };
            };
        };
    };
    /** Get a Cargo with the schemas of its input and output. Public. Only your own unapproved Cargos need a credential. */
    "get /cargos/{slug}": {
        parameters: {
            path: {
                slug: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["CargoDetail"];
                };
            };
        };
    };
    /** Delete your own Cargo. Waiting jobs fail without charge; jobs on an Island continue. The slug stays reserved for your account. */
    "delete /cargos/{slug}": {
        parameters: {
            path: {
                slug: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        deleted: true;
                        slug: string;
                    };
                };
            };
        };
    };
    /** Change your own Cargo. Omitted fields do not change. The Cargo loses its approval if you change what runs, the name or the description, raise the price, or lower the memory requirements. Jobs that were already accepted run the earlier version. */
    "patch /cargos/{slug}": {
        parameters: {
            path: {
                slug: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["ChangeCargo"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["OwnedCargo"];
                };
            };
        };
    };
    /** Create a chat completion. A chat runs as a job, whose id is the completion's id. If the client disconnects, the job is cancelled, and the tokens read and delivered are charged. `Idempotency-Key` has no effect. With `n`, each choice is a job; they run one after the other, even in a stream, and the completion's id is the first job's. */
    "post /chat/completions": {
        requestBody: {
            "application/json": components["schemas"]["ChatCompletionRequest"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["ChatCompletion"];
                "text/event-stream": components["schemas"]["ChatCompletionEvent"];
            };
        };
    };
    /** Create a text completion (legacy). A chat Cargo continues each prompt without its chat template, on Islands whose agent supports this. Each prompt is a job, and four run at once; the completion's id is the first job's. If the client disconnects, the jobs are cancelled. */
    "post /completions": {
        requestBody: {
            "application/json": components["schemas"]["TextCompletionRequest"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["TextCompletion"];
                "text/event-stream": components["schemas"]["TextCompletionEvent"];
            };
        };
    };
    /** List conversations, newest first */
    "get /conversations": {
        parameters: {
            query?: {
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Conversation"][];
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** Start a conversation */
    "post /conversations": {
        requestBody: {
            "application/json": components["schemas"]["CreateConversation"];
        };
        responses: {
            201: {
                "application/json": {
                    data: components["schemas"]["Conversation"];
                };
            };
        };
    };
    /** Get a conversation with a page of its messages */
    "get /conversations/{id}": {
        parameters: {
            query?: {
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
                /** Order of the messages; `asc` lists the oldest first */
                order?: "asc" | "desc";
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["ConversationWithMessages"];
                    /** Position in the messages, and their total number */
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** Delete a conversation with its messages. A message in progress is cancelled. The jobs of the conversation stay in the account's list, without their input and output. */
    "delete /conversations/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        deleted: true;
                        id: string;
                    };
                };
            };
        };
    };
    /** Change a conversation's title or metadata */
    "patch /conversations/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["UpdateConversation"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Conversation"];
                };
            };
        };
    };
    /** Send a message to a conversation and get the assistant's message. Runs a chat job on the history. If the history does not fit the model's context, the oldest messages are left out. With `stream`, the first event is `message`, with the ids of the message and the job; the job's events follow as in GET /jobs/{id}/stream, where `Last-Event-ID` resumes them. If the client disconnects, the job is cancelled and the delivered text is kept as the assistant's message. */
    "post /conversations/{id}/messages": {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["PostMessage"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["AnsweredMessage"];
                };
                "text/event-stream": components["schemas"]["ConversationEvent"];
            };
        };
    };
    /** Get this document as a web page */
    "get /docs": {
    };
    /** List the packages that the coordinator serves, newest version first */
    "get /downloads": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Downloads"];
                };
            };
        };
    };
    /** Create embeddings. Up to 256 texts are one job. If the client disconnects, the jobs are cancelled. */
    "post /embeddings": {
        requestBody: {
            "application/json": components["schemas"]["EmbeddingsRequest"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["Embeddings"];
            };
        };
    };
    /** Stream changes of your jobs, Islands and balance. The stream stays open. It starts with `reset`: read your lists, then apply the events that follow. Changes are collected for 125 ms, and changes of Islands for up to 1 s; if something changes several times, only its last state is sent. Events are never repeated. `reset` is also sent after a gap, and to a client that reads too slowly. An account may have 10 event streams open, which together count as one of its open streams. With `scope=network`, which needs an operator's session, `overview` events are added: the body of GET /operator/overview, sent at once and then after changes, at most every 2 s. That stream ends when the account loses the operator role. */
    "get /events": {
        parameters: {
            query?: {
                /** `network` adds the overview of the network, for operators */
                scope?: "network";
            };
        };
        responses: {
            200: {
                "text/event-stream": components["schemas"]["AccountEvent"];
            };
        };
    };
    /** List files. A page has at most 1000 files, even if `limit` is larger; `has_more` says whether there are more. */
    "get /files": {
        parameters: {
            query?: {
                /** Id of the last file of the previous page */
                after?: string;
                limit?: number;
                /** Order by creation time */
                order?: "asc" | "desc";
                purpose?: "assistants" | "batch" | "batch_output" | "evals" | "fine-tune" | "user_data" | "vision";
            };
        };
        responses: {
            200: {
                "application/json": components["schemas"]["FileList"];
            };
        };
    };
    /** Upload a file. The whole request must arrive within 60 s. If the client sends nothing for 30 s, the connection is closed. */
    "post /files": {
        requestBody: {
            "multipart/form-data": components["schemas"]["UploadFile"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["File"];
            };
        };
    };
    /** Get a file's metadata */
    "get /files/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": components["schemas"]["File"];
            };
        };
    };
    /** Delete a file */
    "delete /files/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": components["schemas"]["DeletedFile"];
            };
        };
    };
    /** Get a file's content. Supports `Range`. The ETag is the SHA-256 of the content. */
    "get /files/{id}/content": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/octet-stream": string;
            };
            206: {
                "application/octet-stream": string;
            };
        };
    };
    /** Get health and version */
    "get /health": {
        responses: {
            200: {
                "application/json": components["schemas"]["Health"];
            };
        };
    };
    /** Generate images from a text. An image Cargo generates each image as a separate job, one after the other. If the client disconnects, the jobs are cancelled. */
    "post /images/generations": {
        requestBody: {
            "application/json": components["schemas"]["ImagesRequest"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["Images"];
            };
        };
    };
    /** Remove an Island, for its agent. Used by `island leave`. Same as `DELETE /islands/{id}`, but with the Island token: `Authorization: Bearer it_…`. `removed` is false if the Island does not belong to the account. The token stays valid for other Islands. */
    "delete /island": {
        parameters: {
            query: {
                host_id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        id: string;
                        removed: boolean;
                    };
                };
            };
        };
    };
    /** List Island tokens that are not revoked, newest first */
    "get /island-tokens": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["IslandToken"][];
                };
            };
        };
    };
    /** Create an Island token. Islands that join with it earn for the account. An account can have 1,000 tokens; beyond that, 422 too_many_tokens. A revoked token counts for one more minute. */
    "post /island-tokens": {
        requestBody: {
            "application/json": components["schemas"]["CreateIslandToken"];
        };
        responses: {
            201: {
                "application/json": {
                    data: components["schemas"]["IslandToken"];
                    /** Secret (it_…), which is shown only here */
                    token: string;
                };
            };
        };
    };
    /** Revoke an Island token. Islands that joined with it are disconnected, and their jobs go to other Islands. */
    "delete /island-tokens/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        id: string;
                        revoked: true;
                    };
                };
            };
        };
    };
    /** Create a pairing code. For `island join <address> --code ABCD-EFGH`, which keeps the token out of the command. The code works once, within ten minutes, at every coordinator of the network. An account can have 5 codes at a time; beyond that, 422 too_many_codes. */
    "post /island-tokens/pairing": {
        requestBody: {
            "application/json": components["schemas"]["CreateIslandToken"];
        };
        responses: {
            201: {
                "application/json": {
                    data: components["schemas"]["PairingCode"];
                };
            };
        };
    };
    /** Get an Island's jobs and earnings, for its agent. Used by `island status` and `island history`. Needs the Island token: `Authorization: Bearer it_…`. */
    "get /island/earnings": {
        parameters: {
            query: {
                host_id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        earned: components["schemas"]["IslandEarnings"];
                        jobs: components["schemas"]["IslandJobs"];
                        name: string;
                        /** The latest jobs with earnings, newest first; at most 100 */
                        recent: {
                            /** Credits, with up to 6 decimals */
                            credits: number;
                            /** Time in UTC, as ISO 8601 */
                            earned_at: string;
                            job_id: string;
                        }[];
                        /** Standings of the owner, which are those of all its Islands: at most 100 Cargos with audits or held earnings, sorted by slug */
                        standings: components["schemas"]["Standing"][];
                        tokens: number;
                        uptime: components["schemas"]["IslandUptime"];
                    };
                };
            };
        };
    };
    /** Get a file of a job, for the Island that runs it. The frame `assign` has the full path, signed for one attempt on one Island. Needs the Island token: `Authorization: Bearer it_…`. Supports `Range`. */
    "get /island/files/{id}": {
        parameters: {
            query: {
                attempt: number;
                expires: number;
                host_id: string;
                job: string;
                signature: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/octet-stream": string;
            };
            206: {
                "application/octet-stream": string;
            };
        };
    };
    /** Exchange a pairing code for an Island token. Used by `island join --code`. A wrong, used or expired code is refused with 404. One client address may send 10 codes a minute, and all addresses together 5 codes with the same first three characters. */
    "post /island/pair": {
        requestBody: {
            "application/json": {
                /** Pairing code, in capital or small letters, with or without the dash */
                code: string;
            };
        };
        responses: {
            201: {
                "application/json": {
                    data: {
                        account_id: string;
                        id: string;
                        name: string;
                        /** Secret (it_…), which is shown only here */
                        token: string;
                    };
                };
            };
        };
    };
    /** List Cargos that an Island should download, most requested first */
    "get /island/recommendations": {
        parameters: {
            query: {
                host_id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    host_id: string;
                    recommendations: components["schemas"]["Recommendation"][];
                };
            };
        };
    };
    /** List your Islands, connected ones first, then by last_seen_at */
    "get /islands": {
        parameters: {
            query?: {
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
                status?: "online" | "paused" | "quarantined" | "offline" | "suspended";
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Island"][];
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** Get one of your Islands */
    "get /islands/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["IslandDetail"];
                };
            };
        };
    };
    /** Remove one of your Islands. Ends the Island's session, moves its jobs to other Islands at once and deletes its record; its earnings stay. The agent stops, and its current token is refused for this host. To add the machine again as a new Island, join with a token or pairing code created after the removal. The old token stays valid for other Islands; revoke it if it should not be used. */
    "delete /islands/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        id: string;
                        removed: true;
                    };
                };
            };
        };
    };
    /** Rename one of your Islands */
    "patch /islands/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["RenameIsland"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["IslandDetail"];
                };
            };
        };
    };
    /** List jobs, newest first */
    "get /jobs": {
        parameters: {
            query?: {
                /** Id of the batch whose jobs are listed */
                batch?: string;
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
                /** Comma-separated list of pending, queued, running, completed, failed, cancelled, timeout */
                status?: string;
                /** Cargo slug */
                workload?: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["ListedJob"][];
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** Submit a job. With an `Idempotency-Key` header, a repeat of the same key and body within 24 h returns the first job. `input` of a chat has `messages`, or a `prompt`, and its parameters. */
    "post /jobs": {
        parameters: {
            header?: {
                "idempotency-key"?: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["SubmitJob"];
        };
        responses: {
            201: {
                "application/json": {
                    data: components["schemas"]["SubmittedJob"];
                };
            };
        };
    };
    /** Get a job's status, output and usage. With `wait`, the response is sent when the job ends, or after `wait` seconds with the job's current state. */
    "get /jobs/{id}": {
        parameters: {
            query?: {
                /** Maximum seconds to wait for the job's end */
                wait?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Job"];
                };
            };
        };
    };
    /** Cancel an unfinished job. The output so far stays. For an ended job the response is 422 job_not_cancellable, and nothing changes. `DELETE /jobs/{id}/content` removes its content. */
    "delete /jobs/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        id: string;
                        status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
                    };
                };
            };
        };
    };
    /** Delete the input and output of an ended job. Permanently removes the job's input, output and stream, and in a conversation the message and its response. Status, usage and charge stay. A repeat gets the same response. An unfinished job must be cancelled first: until then, the response is 422 validation_failed. */
    "delete /jobs/{id}/content": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        deleted: true;
                        id: string;
                    };
                };
            };
        };
    };
    /** Get a job's output so far. Works while the job runs. Output produced before a failure or cancellation stays readable. */
    "get /jobs/{id}/output": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["JobOutput"];
                };
            };
        };
    };
    /** Stream a job's output while it is produced. With `Last-Event-ID`, the stream continues after that event, without a gap or a repeat. The stream of an ended job is replayed. If a crash of the coordinator lost output that it had already delivered, the stream ends without `done` or `error`, and resuming gets 422 position_lost: discard all earlier events and read the stream again without the header. */
    "get /jobs/{id}/stream": {
        parameters: {
            query?: {
                last_event_id?: string;
            };
            header?: {
                "last-event-id"?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "text/event-stream": components["schemas"]["JobEvent"];
            };
            204: {
            };
        };
    };
    /** Submit up to 100 jobs of one Cargo. Stores all jobs and holds their prices, or does neither. Jobs above the account's limit of unfinished jobs wait, and count towards it only when they are admitted. With an `Idempotency-Key` header, a repeat of the same key and body within 24 h returns the first batch. */
    "post /jobs/batch": {
        parameters: {
            header?: {
                "idempotency-key"?: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["SubmitBatch"];
        };
        responses: {
            201: {
                "application/json": {
                    data: components["schemas"]["SubmittedBatch"];
                };
            };
        };
    };
    /** Get a batch with the state of each job. With `include=output`, jobs include their outputs, up to the size limit of one response. Continue with `output_offset` set to `next_output_offset`. */
    "get /jobs/batch/{id}": {
        parameters: {
            query?: {
                include?: "output";
                /** Index of the first job to include with its output */
                output_offset?: number;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Batch"];
                };
            };
        };
    };
    /** Cancel every job of a batch that has not ended. Ended jobs do not change. If all have ended, the response is 422 job_not_cancellable. */
    "delete /jobs/batch/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Batch"];
                };
            };
        };
    };
    /** Create a message. Takes a chat in the format of Anthropic's Messages API, with the API key in `X-Api-Key` or `Authorization`. A message runs as a job, whose id is the message's id. If the client disconnects, the job is cancelled. */
    "post /messages": {
        requestBody: {
            "application/json": components["schemas"]["MessageRequest"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["AnthropicMessage"];
                "text/event-stream": components["schemas"]["AnthropicMessageEvent"];
            };
        };
    };
    /** Count the tokens of a message's prompt. The count is exact and includes what the chat template adds. It runs as a chat job of one token on an Island, because only an Island has the model's tokenizer, and costs as much as a chat. */
    "post /messages/count_tokens": {
        requestBody: {
            "application/json": components["schemas"]["CountTokensRequest"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["CountedTokens"];
            };
        };
    };
    /** Get metrics in Prometheus format. Metrics are totals that do not name accounts or Islands. The request needs the operator's `metrics_token` (`Authorization: Bearer`). If that setting is not set, only programs on the coordinator's machine can read the metrics, and only if other machines cannot reach the coordinator. Any other request gets 404, including one through a proxy or from a page of another site. */
    "get /metrics": {
        responses: {
            200: {
                "text/plain": string;
            };
        };
    };
    /** List models. The list contains the Cargos and aliases that the caller can use with OpenAI's or Anthropic's endpoints, including the caller's own unapproved Cargos. For an API key that is limited to some Cargos, only those are listed. `available`, `ready` and `free` are at most 5 s old. With the header `anthropic-version`, chat Cargos are listed in the format of Anthropic's API, paged by `limit` (1 to 1000, default 20), `after_id` and `before_id`; `GET /models/{id}` follows the same format. */
    "get /models": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Model"][];
                    object: "list";
                };
            };
        };
    };
    /** Get a model */
    "get /models/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": components["schemas"]["Model"];
            };
        };
    };
    /** Classify texts by OpenAI's moderation categories. A text classification Cargo scores each text. Each text is a job, and four run at once. If the client disconnects, the jobs are cancelled. */
    "post /moderations": {
        requestBody: {
            "application/json": components["schemas"]["ModerationRequest"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["Moderation"];
            };
        };
    };
    /** Get public facts about the network, with all coordinators. Counts are at most 10 s old. */
    "get /network": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Network"];
                };
            };
        };
    };
    /** Get this document */
    "get /openapi.json": {
        responses: {
            200: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
    };
    /** List accounts, newest first */
    "get /operator/accounts": {
        parameters: {
            query?: {
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
                role?: "user" | "operator";
                /** Part of an e-mail address, or a whole account id */
                search?: string;
                suspended?: "true" | "false";
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["KnownAccount"][];
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** Get an account with its limits. For its Islands use GET /operator/islands?account=…, for its jobs GET /operator/jobs?account=…. */
    "get /operator/accounts/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["KnownAccountDetail"];
                };
            };
        };
    };
    /** Give credits to an account, or take them back. A negative amount takes credits back, up to the available balance, and requires a note. With an `Idempotency-Key` header, repeats with the same operator, account and amount grant once; the same key with another amount is refused with 422. These keys never expire. Without the header, each request grants credits. */
    "post /operator/accounts/{id}/grants": {
        parameters: {
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["GrantCredits"];
        };
        responses: {
            201: {
                "application/json": {
                    data: {
                        /** Credits, with up to 6 decimals */
                        credits: number;
                        id: string;
                    };
                };
            };
        };
    };
    /** Change limits of an account */
    "patch /operator/accounts/{id}/limits": {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["SetAccountLimits"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["AccountLimits"];
                };
            };
        };
    };
    /** Suspend an account. Its keys, sessions and Island tokens are refused with 403 account_suspended. Within a second, every coordinator ends its streams, cancels its unfinished jobs and disconnects its Islands. An operator's account cannot be suspended (400). */
    "post /operator/accounts/{id}/suspension": {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["Suspend"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["KnownAccountDetail"];
                };
            };
        };
    };
    /** End the suspension of an account. Its keys, sessions and Island tokens work again, and its Islands reconnect within a minute. */
    "delete /operator/accounts/{id}/suspension": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["KnownAccountDetail"];
                };
            };
        };
    };
    /** Publish an announcement */
    "post /operator/announcements": {
        requestBody: {
            "application/json": components["schemas"]["AddAnnouncement"];
        };
        responses: {
            201: {
                "application/json": {
                    data: components["schemas"]["Announcement"];
                };
            };
        };
    };
    /** Remove an announcement */
    "delete /operator/announcements/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        id: string;
                        removed: true;
                    };
                };
            };
        };
    };
    /** List operators' actions in the API and the CLI, newest first. Entries are never changed or removed. */
    "get /operator/audit": {
        parameters: {
            query?: {
                action?: string;
                actor?: string;
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
                /** Id of the action's target */
                target?: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["AuditLine"][];
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** List all Cargos with their state, sorted by slug */
    "get /operator/cargos": {
        parameters: {
            query?: {
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
                /** State of the Cargos; `waiting` means that they wait for an approval */
                status?: "offered" | "waiting" | "unpinned" | "off" | "disabled" | "hidden";
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["KnownCargo"][];
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** Add a GGUF model as a Cargo for all accounts. Looks up the files, their hashes and the header. With `dry_run`, changes nothing. */
    "post /operator/cargos": {
        requestBody: {
            "application/json": components["schemas"]["AddModel"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["AddedModel"];
                };
            };
        };
    };
    /** Get the definition that an approval of the Cargo would sign */
    "get /operator/cargos/{slug}": {
        parameters: {
            path: {
                slug: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["CargoReview"];
                };
            };
        };
    };
    /** Change the price of a shipped Cargo. The price applies to new jobs at every coordinator, and survives catalog updates. Prices by size change by the same factor. Other Cargos are refused with 400; change the price in their definition. */
    "patch /operator/cargos/{slug}": {
        parameters: {
            path: {
                slug: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["SetCargoPrice"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["CargoReview"];
                };
            };
        };
    };
    /** Approve the reviewed Cargo for all accounts. Send `revision` and the pin of the review. If the Cargo has changed since then, the request is refused with 400. The approval signs the Cargo and enables it. */
    "post /operator/cargos/{slug}/approval": {
        parameters: {
            path: {
                slug: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["ApproveCargo"];
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        approved: true;
                        revision: string;
                        slug: string;
                    };
                };
            };
        };
    };
    /** Disable a Cargo for all accounts. Waiting jobs fail; jobs on an Island continue. */
    "post /operator/cargos/{slug}/disabled": {
        parameters: {
            path: {
                slug: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        disabled: boolean;
                        slug: string;
                    };
                };
            };
        };
    };
    /** Enable a disabled Cargo, without approving it */
    "delete /operator/cargos/{slug}/disabled": {
        parameters: {
            path: {
                slug: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        disabled: boolean;
                        slug: string;
                    };
                };
            };
        };
    };
    /** Look up the pin that a Cargo's approval needs. A missing pin is looked up in the image's registry or on the model's hub. If the host does not respond within 2.5 s, the error names it. Nothing is changed. */
    "post /operator/cargos/{slug}/review": {
        parameters: {
            path: {
                slug: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["CargoPins"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["CargoReview"];
                };
            };
        };
    };
    /** List the Islands of all accounts, most recently seen first */
    "get /operator/islands": {
        parameters: {
            query?: {
                /** Id of an account */
                account?: string;
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
                /** Beginning of an Island's id, or part of its name */
                search?: string;
                /** `online` includes Islands that were seen within the last 150 s, even if they have just disconnected */
                status?: "online" | "offline" | "suspended";
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["KnownIsland"][];
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** Get an Island, as its owner sees it */
    "get /operator/islands/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["KnownIslandDetail"];
                };
            };
        };
    };
    /** Audit the latest jobs of an Island again. Audits those of its latest 10 jobs with a `verification` whose answer can be judged. */
    "post /operator/islands/{id}/audit": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            202: {
                "application/json": {
                    data: {
                        id: string;
                        /** Ids of the jobs */
                        jobs: string[];
                    };
                };
            };
        };
    };
    /** Suspend an Island. Ends the Island's session with the reason and moves its jobs to other Islands at once. Its agent reconnects once a minute, but gets no jobs until the suspension ends. The agent chooses its host id: if the owner returns under another id, suspend the account. */
    "post /operator/islands/{id}/suspension": {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["Suspend"];
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        id: string;
                        suspended: boolean;
                    };
                };
            };
        };
    };
    /** End the suspension of an Island */
    "delete /operator/islands/{id}/suspension": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        id: string;
                        suspended: boolean;
                    };
                };
            };
        };
    };
    /** List the jobs of all accounts, newest first. Searches the network's most recent 100,000 jobs, or all jobs of an account if `account` is the only filter. */
    "get /operator/jobs": {
        parameters: {
            query?: {
                /** Id of an account */
                account?: string;
                /** Id of an Island */
                island?: string;
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
                /** Comma-separated list of pending, queued, running, completed, failed, cancelled, timeout */
                status?: string;
                /** Cargo slug */
                workload?: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["KnownJob"][];
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** Audit an ended job again, or for the first time. `verification` of the job has the verdict. A consistent answer counts only in the first audit of a job. Refused (400) for a job that has not ended, whose Island's owner was paid at once, whose client refused audits, or whose answer cannot be judged: JSON, tools, reasoning, images, or a text of several Islands. */
    "post /operator/jobs/{id}/audit": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            202: {
                "application/json": {
                    data: {
                        id: string;
                    };
                };
            };
        };
    };
    /** Get an overview of the network, with all coordinators */
    "get /operator/overview": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["NetworkOverview"];
                };
            };
        };
    };
    /** Count the waiting jobs of all coordinators by Cargo and reason, most jobs first */
    "get /operator/queue": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["QueueLine"][];
                    /** False if a coordinator did not reply, so that its jobs are missing */
                    is_complete: boolean;
                };
            };
        };
    };
    /** List the settings of this coordinator, without secrets */
    "get /operator/settings": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["SettingInForce"][];
                };
            };
        };
    };
    /** List the standings of owners with Cargos, the latest change first. An owner that is not listed is new. Islands of operators are always trusted. */
    "get /operator/standings": {
        parameters: {
            query?: {
                /** Id of an account */
                account?: string;
                /** Maximum number of entries */
                limit?: number;
                /** Number of entries to skip */
                offset?: number;
                state?: "new" | "proven" | "trusted" | "quarantined";
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["KnownStanding"][];
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** Set the standing of an owner with a Cargo. `proven` and `trusted` pay the owner's held earnings. `quarantined` refunds their clients, and the owner's Islands get no more jobs of the Cargo. Other coordinators apply the change within a second. An operator's account is refused (400). */
    "put /operator/standings/{account}/{cargo}": {
        parameters: {
            path: {
                account: string;
                cargo: string;
            };
        };
        requestBody: {
            "application/json": components["schemas"]["SetStanding"];
        };
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["KnownStanding"];
                };
            };
        };
    };
    /** Rank documents by relevance to a query. A reranking Cargo scores the documents, or an embedding Cargo compares their vectors with the query's. The query and all documents are one job. If the client disconnects, the job is cancelled. For Cohere's client, `/v2/rerank`, outside the API base, works too. */
    "post /rerank": {
        requestBody: {
            "application/json": components["schemas"]["RerankRequest"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["Reranking"];
            };
        };
    };
    /** Create a response. Takes a chat in the format of OpenAI's Responses API. A response is stored as a job: the ids `resp_…` and `job_…` end in the same characters, and the retention of jobs applies. If the client disconnects, the job is cancelled, unless it runs in the background. */
    "post /responses": {
        requestBody: {
            "application/json": components["schemas"]["ResponseRequest"];
        };
        responses: {
            200: {
                "application/json": components["schemas"]["OpenAiResponse"];
                "text/event-stream": components["schemas"]["OpenAiResponseEvent"];
            };
        };
    };
    /** Get a response */
    "get /responses/{id}": {
        parameters: {
            query?: {
                stream?: "false";
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": components["schemas"]["OpenAiResponse"];
            };
        };
    };
    /** Delete a response's input and output. A response that is still running is cancelled first. */
    "delete /responses/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    deleted: true;
                    id: string;
                    object: "response";
                };
            };
        };
    };
    /** Cancel a background response */
    "post /responses/{id}/cancel": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": components["schemas"]["OpenAiResponse"];
            };
        };
    };
    /** List the sessions of the account, newest first. Needs a session. An account can have 20 sessions. */
    "get /sessions": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["AccountSession"][];
                };
            };
        };
    };
    /** End a session at once. Needs a session. If you end the session of this request, its cookie is cleared. */
    "delete /sessions/{id}": {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        ended: true;
                        id: string;
                    };
                };
            };
        };
    };
}
/** Operations that need no credential. */
export const PUBLIC_OPERATIONS: ReadonlySet<string> = new Set([
    "delete /island",
    "get /announcements",
    "get /cargos",
    "get /cargos/{slug}",
    "get /docs",
    "get /downloads",
    "get /health",
    "get /island/earnings",
    "get /island/files/{id}",
    "get /island/recommendations",
    "get /metrics",
    "get /network",
    "get /openapi.json",
    "post /auth/email",
    "post /auth/login",
    "post /auth/password/forgot",
    "post /auth/password/reset",
    "post /auth/register",
    "post /auth/verify",
    "post /island/pair",
]);
