// Generated from the coordinator's OpenAPI document by `npm run generate`. Not for editing.

export interface components {
    schemas: {
        Account: {
            /** ISO 8601, UTC */
            created_at: string;
            /** Credits, with up to 6 decimals */
            credits: number;
            email: string;
            id: string;
            role: "user" | "operator";
        };
        /** Its address, role or limits, its API keys, sessions or Island tokens changed: `data` of GET /account. Read again what you show of them */
        AccountChangedEvent: {
            /** ISO 8601, UTC */
            created_at: string;
            /** Credits, with up to 6 decimals */
            credits: number;
            email: string;
            id: string;
            role: "user" | "operator";
            type: "account";
        };
        /** What changed; `type` is the name of the event */
        AccountEvent: components["schemas"]["ResetEvent"] | components["schemas"]["JobChangedEvent"] | components["schemas"]["IslandChangedEvent"] | components["schemas"]["IslandRemovedEvent"] | components["schemas"]["BalanceEvent"] | components["schemas"]["AccountChangedEvent"] | components["schemas"]["OverviewEvent"];
        AccountLimits: {
            concurrent_jobs: number;
            concurrent_streams: number;
            requests_per_minute: number;
            /** Weight in the fair share of slot time */
            share: number;
        };
        AccountSession: {
            /** ISO 8601, UTC */
            created_at: string;
            /** The session that asks */
            current: boolean;
            /** ISO 8601, UTC */
            expires_at: string;
            id: string;
            /** ISO 8601, UTC; up to a minute old. Null: never */
            last_used_at: string | null;
        };
        AddAnnouncement: {
            level?: "info" | "warning";
            text: string;
            /** Left out or null: until it is removed */
            until?: string | null;
        };
        Announcement: {
            /** ISO 8601, UTC */
            created_at: string;
            id: string;
            level: "info" | "warning";
            /** Plain text */
            text: string;
            /** Null: until it is removed */
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
                /** Empty: nothing is signed */
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
            /** `end_turn` also for an answer that a stop sequence ended on an Island that does not say which */
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
                /** Empty: nothing is signed */
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
            /** ISO 8601, UTC */
            created_at: string;
            /** Credits, with up to 6 decimals */
            credits_per_month: number | null;
            /** What a key with credits_per_month has spent of it; null for others */
            credits_this_month: number | null;
            /** ISO 8601, UTC */
            expires_at: string | null;
            id: string;
            /** ISO 8601, UTC */
            last_used_at: string | null;
            name: string;
            prefix: string;
            scopes: ("read" | "write")[];
        };
        ApproveCargo: {
            /** sha256:… of the image's manifest */
            image_digest?: string;
            /** Commit of the model's folder on the hub */
            model_commit?: string;
            /** SHA-256 of the model's file or files.json, in hex */
            model_hash?: string;
            revision: string;
        };
        AuditLine: {
            /** With `.failed` for one that was refused */
            action: string;
            /** The operator's account; of a command the user of the operating system */
            actor: string;
            /** Null for a command, and for an account that was deleted */
            actor_email: string | null;
            /** JSON, or null */
            after?: unknown;
            /** ISO 8601, UTC */
            at: string;
            /** JSON, or null */
            before?: unknown;
            /** Increases with time */
            id: number;
            /** The client's address; of a command the machine's name */
            origin: string;
            target: {
                id: string;
                kind: "account" | "announcement" | "cargo" | "coordinator" | "island";
            };
            via: "api" | "command";
        };
        AvailableCargo: {
            /** Those with a free slot */
            free: number;
            /** Connected Islands that may run it */
            islands: number;
            /** Those that have its model or image, or need none */
            ready: number;
            slug: string;
        };
        /** `credits` of GET /account */
        BalanceEvent: {
            /** Credits, with up to 6 decimals */
            balance: number;
            type: "balance";
        };
        Batch: {
            /** ISO 8601, UTC */
            completed_at: string | null;
            counts: components["schemas"]["BatchCounts"];
            /** ISO 8601, UTC */
            created_at: string;
            fail_mode: "best_effort" | "fail_fast";
            id: string;
            /** In the order of the inputs */
            jobs: components["schemas"]["BatchJob"][];
            /** Only with `include=output`: `output_offset` of the next request, as the outputs of one answer are bounded; null: there are no more */
            next_output_offset?: number | null;
            priority: number;
            /** pending: no job has started. failed: all jobs have ended, at least one failed or timed out */
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
            /** With `output`: why the job failed or timed out */
            error?: {
                code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
                message: string;
                retryable: boolean;
            } | null;
            id: string;
            /** Only with `include=output`, from job `output_offset` on. Null for a job that is not completed, or whose output was removed or omitted */
            output?: unknown;
            /** The output has more than 65536 characters as JSON: read it from GET /jobs/{id} */
            output_omitted?: true;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
        };
        BatchWebhook: {
            data: {
                /** ISO 8601, UTC */
                completed_at: string | null;
                counts: components["schemas"]["BatchCounts"];
                /** ISO 8601, UTC */
                created_at: string;
                fail_mode: "best_effort" | "fail_fast";
                id: string;
                /** In the order of the inputs */
                jobs: components["schemas"]["BatchJob"][];
                /** Only with `include=output`: `output_offset` of the next request, as the outputs of one answer are bounded; null: there are no more */
                next_output_offset?: number | null;
                priority: number;
                /** pending: no job has started. failed: all jobs have ended, at least one failed or timed out */
                status: "pending" | "running" | "completed" | "failed" | "cancelled";
                workload_id: number;
                workload_slug: string;
            };
            /** ISO 8601, UTC */
            timestamp: string;
            type: "batch.finished";
        };
        Cargo: {
            category: "llm" | "image" | "audio" | "vision" | "text" | "utility";
            /** Can be the `model` of a chat completion */
            chat: boolean;
            context_tokens: number | null;
            description: string;
            licence: string;
            /** Of the model's file, in hexadecimal; null: the Cargo has none, has a folder of files, or names no hash */
            model_sha256: string | null;
            name: string;
            onnx_task_type: string | null;
            /** Credits, with up to 6 decimals */
            price_per_job: number;
            required_ram_mb: number;
            required_vram_mb: number;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            slug: string;
        };
        CargoApproval: {
            /** ISO 8601, UTC */
            at: string;
            /** Account of an operator, or user of the operating system */
            by: string;
            revision: string;
        };
        CargoDetail: {
            /** Limit of this phase of an attempt; null: the coordinator's setting */
            accept_limit_s: number | null;
            /** By the operator. Until then only its owner sees and runs it */
            approved: boolean;
            category: "llm" | "image" | "audio" | "vision" | "text" | "utility";
            /** Can be the `model` of a chat completion */
            chat: boolean;
            context_tokens: number | null;
            description: string;
            example_input: {
                [key: string]: unknown;
            };
            /** Limit of this phase of an attempt; null: the coordinator's setting */
            first_output_limit_s: number | null;
            /** JSON Schema of a job's input */
            input_schema: {
                [key: string]: unknown;
            };
            licence: string;
            /** Of the model's file, in hexadecimal; null: the Cargo has none, has a folder of files, or names no hash */
            model_sha256: string | null;
            name: string;
            onnx_task_type: string | null;
            /** JSON Schema of a job's output; {} allows any JSON value */
            output_schema: {
                [key: string]: unknown;
            };
            /** Credits, with up to 6 decimals */
            price_per_job: number;
            required_ram_mb: number;
            required_vram_mb: number;
            run_limit_s: number;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            /** Limit of this phase of an attempt; null: the coordinator's setting */
            silence_limit_s: number | null;
            slug: string;
            /** Limit of this phase of an attempt; null: the coordinator's setting */
            start_limit_s: number | null;
            /** What it does, by the model hub's names, as feature-extraction or text-ranking; null: it chats, or its schemas say it */
            task: string | null;
            wait_limit_s: number;
            workload_id: number;
        };
        CargoPin: {
            kind: "image_digest" | "model_hash" | "model_commit";
            value: string | null;
        };
        CargoPins: {
            /** sha256:… of the image's manifest */
            image_digest?: string;
            /** Commit of the model's folder on the hub */
            model_commit?: string;
            /** SHA-256 of the model's file or files.json, in hex */
            model_hash?: string;
        };
        CargoReview: {
            /** The last one, of this definition or an earlier one */
            approval: components["schemas"]["CargoApproval"] | null;
            /** The whole definition; see catalog/README.md */
            cargo: {
                [key: string]: unknown;
            };
            description: string;
            name: string;
            origin: "shipped" | "imported" | "owned";
            owner_email: string | null;
            owner_id: string | null;
            /** What ties it to exact bytes; a null value: nothing does yet. Null: it fetches nothing */
            pin: components["schemas"]["CargoPin"] | null;
            /** In force for new jobs */
            price_per_job: number;
            /** Hash of all of `cargo`; an approval names it */
            revision: string;
            /** That of its file; null unless it is shipped */
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
            /** Slugs of the Cargos that it may run, others are 403 cargo_not_allowed; null: all */
            cargos?: string[] | null;
            /** What its jobs may cost in a calendar month (UTC): charged, or held while they are unfinished. More is 402 key_credits_exceeded; null: any amount */
            credits_per_month?: number | null;
            /** The key is refused from then on (401 key_expired); null: never */
            expires_at?: string | null;
            name?: string;
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
            price_per_job?: number;
            quantization?: string | null;
            reasoning?: boolean | null;
            required_ram_mb?: number;
            required_vram_mb?: number;
            run_limit_s?: number | null;
            runtime_type?: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
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
                        /** Natural logarithm, before temperature, penalties and grammars */
                        logprob: number;
                        token: string;
                        top_logprobs: {
                            bytes: number[] | null;
                            /** Natural logarithm, before temperature, penalties and grammars */
                            logprob: number;
                            token: string;
                        }[];
                    }[];
                    refusal: null;
                } | null;
                message: {
                    /** Null for an answer of calls alone */
                    content: string | null;
                    /** Thoughts of a model that thinks */
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
                /** Of answers with thoughts, whose tokens are among completion_tokens */
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
            /** Empty in the chunk that carries `usage` */
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
                        /** Natural logarithm, before temperature, penalties and grammars */
                        logprob: number;
                        token: string;
                        top_logprobs: {
                            bytes: number[] | null;
                            /** Natural logarithm, before temperature, penalties and grammars */
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
                /** Of answers with thoughts, whose tokens are among completion_tokens */
                completion_tokens_details?: {
                    reasoning_tokens: number;
                };
                /** Credits that were charged, with up to 6 decimals */
                cost: number;
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        /** The job failed after output began; no [DONE] follows */
        ChatCompletionError: {
            error: {
                code: string;
                message: string;
                param: null;
                /** A new try may succeed */
                retryable: boolean;
                type: "server_error" | "invalid_request_error";
            };
        };
        ChatCompletionEvent: components["schemas"]["ChatCompletionChunk"] | components["schemas"]["ChatCompletionError"] | "[DONE]";
        ChatCompletionRequest: {
            frequency_penalty?: number | null;
            /** By ids of the model's own vocabulary, at most 300; -100 excludes a token */
            logit_bias?: {
                [key: string]: number;
            } | null;
            /** Of text, before temperature, penalties and grammars */
            logprobs?: boolean | null;
            /** The newer name of `max_tokens`, which wins */
            max_completion_tokens?: number | null;
            /** Lowered to the Cargo's context, or to 4096 where that is more */
            max_tokens?: number | null;
            /** With at most 16384 parts together */
            messages: {
                /** Text, or a list of text parts, which are joined */
                content?: string | {
                    text: string;
                    /** Other kinds are refused */
                    type: "text";
                }[] | null;
                role: "system" | "user" | "assistant" | "tool" | "developer";
                /** The call that a `tool` message answers */
                tool_call_id?: string | null;
                /** What an assistant called */
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
            /** Slug of a chat Cargo; default: the operator's default chat Cargo */
            model?: string | null;
            /** Answers, each a job of its own, one after the other, also on a stream; those before one that fails are charged */
            n?: number | null;
            /** Default true: up to 16 calls; of a named function always one */
            parallel_tool_calls?: boolean | null;
            presence_penalty?: number | null;
            /** For Cargos that think; for others ignored */
            reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
            /** Divides the logits of tokens that the answer has already; 1: no penalty */
            repeat_penalty?: number | null;
            response_format?: {
                type: "text";
            } | {
                /** Not OpenAI's: with `json_object`, kept as a `json_schema` */
                schema?: {
                    [key: string]: unknown;
                } | null;
                type: "json_object";
            } | {
                json_schema: {
                    /** In errors only */
                    name?: string;
                    /** A JSON Schema */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** Check what a grammar cannot keep */
                    strict?: boolean | null;
                };
                type: "json_schema";
            } | null;
            /** The same answer on the same engine and model */
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
            /** Functions, 256 KB together; calls by a grammar; see below */
            tools?: ({
                function: {
                    /** A part of the prompt */
                    description?: string | null;
                    /** 1 to 64 of a-z, A-Z, 0-9, _ and - */
                    name: string;
                    /** The JSON Schema of an object; with `strict` kept as that of `response_format`, else as far as a grammar can */
                    parameters?: {
                        [key: string]: unknown;
                    } | null;
                    /** Arguments are valid by `parameters`, or the answer fails (`schema_unmet`) */
                    strict?: boolean | null;
                };
                type: "function";
            } | {
                type: string;
            })[] | null;
            /** 0: any number */
            top_k?: number | null;
            /** 20 for answers of at most 4761 tokens */
            top_logprobs?: number | null;
            top_p?: number | null;
            /** OpenRouter's; the answer has the usage, as with `stream_options.include_usage` */
            usage?: {
                include?: boolean | null;
            } | null;
        };
        Conversation: {
            /** ISO 8601, UTC */
            created_at: string;
            id: string;
            metadata: {
                [key: string]: string;
            };
            model: string;
            system_prompt: string | null;
            title: string | null;
            /** ISO 8601, UTC */
            updated_at: string;
        };
        ConversationEvent: components["schemas"]["MessageEvent"] | components["schemas"]["StatusEvent"] | components["schemas"]["TokenEvent"] | components["schemas"]["ReasoningEvent"] | components["schemas"]["ToolCallEvent"] | components["schemas"]["ProgressEvent"] | components["schemas"]["ImageEvent"] | components["schemas"]["DoneEvent"] | components["schemas"]["ErrorEvent"];
        ConversationWithMessages: {
            /** ISO 8601, UTC */
            created_at: string;
            id: string;
            messages: components["schemas"]["Message"][];
            metadata: {
                [key: string]: string;
            };
            model: string;
            system_prompt: string | null;
            title: string | null;
            /** ISO 8601, UTC */
            updated_at: string;
        };
        /** A session whose token is in the cookie `atoll_session` alone */
        CookieSession: {
            account: components["schemas"]["Account"];
            /** ISO 8601, UTC */
            expires_at: string;
        };
        CoordinatorOverview: {
            address: string;
            /** False: it said nothing in time, and its part is missing in the sums */
            answers: boolean;
            /** Null for a coordinator that is alone */
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
            /** With at most 16384 parts together */
            messages: {
                /** Text, or a list of blocks; texts are joined */
                content: string | ({
                    text: string;
                    type: "text";
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
            /** For a Cargo that thinks; by default it does not. For others, `enabled` is ignored */
            thinking?: {
                budget_tokens?: null;
                type: "disabled";
            } | {
                budget_tokens?: null;
                type: "adaptive" | "between_tools";
            } | {
                /** Of 2048 and more, 2048 are used */
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
            /** Your own, 256 KB together; built-in ones are not offered to the model */
            tools?: ({
                /** A part of the prompt */
                description?: string | null;
                /** The JSON Schema of an object */
                input_schema: {
                    [key: string]: unknown;
                };
                /** 1 to 64 of a-z, A-Z, 0-9, _ and - */
                name: string;
                /** The input is valid by `input_schema`, or the answer fails (`schema_unmet`) */
                strict?: boolean | null;
                type?: "custom" | null;
            } | {
                type: string;
            })[] | null;
        };
        CreateApiKey: {
            /** Slugs of the Cargos that it may run, others are 403 cargo_not_allowed; null: all */
            cargos?: string[] | null;
            /** What its jobs may cost in a calendar month (UTC): charged, or held while they are unfinished. More is 402 key_credits_exceeded; null: any amount */
            credits_per_month?: number | null;
            /** The key is refused from then on (401 key_expired); null: never */
            expires_at?: string | null;
            name?: string;
            /** Comma-separated list of read and write, or an array of them */
            scopes?: string | ("read" | "write")[];
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
            price_per_job: number;
            quantization?: string | null;
            reasoning?: boolean | null;
            required_ram_mb: number;
            required_vram_mb: number;
            run_limit_s?: number | null;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            silence_limit_s?: number | null;
            slug: string;
            start_limit_s?: number | null;
            task?: "feature-extraction" | "text-ranking" | null;
            tools?: "template" | "grammar" | null;
            wait_limit_s?: number | null;
            weights?: "fp32" | "fp16" | "int8" | "uint8" | "q8" | "q4" | "q4f16" | "bnb4" | null;
        };
        CreateConversation: {
            /** For the client's own use: at most 16 entries */
            metadata?: {
                [key: string]: string;
            } | null;
            /** Slug of a chat Cargo; default: the operator's default chat Cargo */
            model?: string | null;
            system_prompt?: string | null;
            title?: string | null;
        };
        CreatedApiKey: {
            /** ISO 8601, UTC */
            created_at: string;
            data: {
                cargos: string[] | null;
                /** ISO 8601, UTC */
                created_at: string;
                /** Credits, with up to 6 decimals */
                credits_per_month: number | null;
                /** ISO 8601, UTC */
                expires_at: string | null;
                id: string;
                /** The secret; shown only here */
                key: string;
                name: string;
                prefix: string;
                scopes: ("read" | "write")[];
            };
            id: string;
            /** The secret; shown only here */
            key: string;
            name: string;
            scopes: ("read" | "write")[];
        };
        CreateFileBatch: {
            completion_window: "24h";
            /** Endpoint of every line; docs/use/files-and-batches.md lists those that batches support */
            endpoint: string;
            /** A JSONL file with the purpose `batch` */
            input_file_id: string;
            metadata?: {
                [key: string]: string;
            } | null;
            /** How long the files of results live; never longer than the coordinator keeps files */
            output_expires_after?: {
                anchor: "created_at";
                seconds: number;
            } | null;
        };
        CreateIslandToken: {
            /** Default: "Island token" */
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
            /** The output, unless it is text that was streamed already */
            output?: unknown;
            type: "done";
            usage: components["schemas"]["Usage"];
        };
        Download: {
            /** npm: for `npm install`. deb: for `apt install`. wheel: for `pip install` */
            format: "npm" | "deb" | "wheel";
            name: string;
            /** The agent of hosts, or the client of programs */
            package: "island" | "client";
            /** Below the coordinator's address; with .sha256 after it, its hash */
            path: string;
            /** In hexadecimal */
            sha256: string;
            size_bytes: number;
            version: string;
        };
        Downloads: {
            files: components["schemas"]["Download"][];
            /** Address at which other machines reach the coordinator, if the operator set it */
            public_url: string | null;
        };
        EmailProof: {
            password: string;
            /** ep_…, from the mail */
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
            /** The model's own number; another is refused once the vectors are made, which is charged */
            dimensions?: number | null;
            /** base64: little-endian 32-bit floats; default: float */
            encoding_format?: "float" | "base64" | null;
            /** A text, or several, of which each 256, or 255 KiB, are a job; lists of tokens are refused */
            input: string | string[];
            /** Slug or alias of a Cargo with the task feature-extraction. Default: the operator's (default_embedding_cargo) */
            model?: string | null;
        };
        ErrorEvent: {
            code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal" | "cancelled";
            error: string;
            /** A new try may succeed */
            retryable: boolean;
            type: "error";
        };
        File: {
            bytes: number;
            /** Unix time in seconds */
            created_at: number;
            /** When it is removed; null: never by itself */
            expires_at: number | null;
            filename: string;
            id: string;
            object: "file";
            purpose: "assistants" | "batch" | "batch_output" | "evals" | "fine-tune" | "user_data" | "vision";
            /** Of the content, in hexadecimal */
            sha256: string;
            status: "processed";
        };
        FileBatch: {
            /** Unix time in seconds; null: not (yet) */
            cancelled_at: number | null;
            /** Unix time in seconds; null: not (yet) */
            cancelling_at: number | null;
            /** Unix time in seconds; null: not (yet) */
            completed_at: number | null;
            completion_window: "24h";
            created_at: number;
            endpoint: string;
            /** Lines without one */
            error_file_id: string | null;
            /** Why it failed */
            errors: {
                data: {
                    code: string;
                    /** From 1; null: not about a line */
                    line: number | null;
                    message: string;
                    param: string | null;
                }[];
                object: "list";
            } | null;
            /** Unix time in seconds; null: not (yet) */
            expired_at: number | null;
            expires_at: number;
            /** Unix time in seconds; null: not (yet) */
            failed_at: number | null;
            /** Unix time in seconds; null: not (yet) */
            finalizing_at: number | null;
            id: string;
            /** Unix time in seconds; null: not (yet) */
            in_progress_at: number | null;
            input_file_id: string;
            metadata: {
                [key: string]: string;
            } | null;
            object: "batch";
            /** Lines with an answer */
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
            /** Negative: taken back; not 0 */
            credits: number;
            /** Shown to the account */
            note?: string;
        };
        Health: {
            checks: {
                /** Of one of several coordinators. down: others cannot be reached; its own jobs and Islands go on */
                bus?: "ok" | "down";
                /** read_only: the disk is full, another process writes, or the database is away; nothing new is accepted */
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
                /** The file in base64 */
                b64_json: string;
            }[];
            output_format: "png";
            usage: {
                input_tokens: number;
                input_tokens_details: {
                    image_tokens: number;
                    text_tokens: number;
                };
                /** Always 0: pictures have no tokens here */
                output_tokens: number;
                total_tokens: number;
            };
        };
        ImagesRequest: {
            /** Not OpenAI's; how closely to follow the prompt */
            guidance_scale?: number | null;
            /** Slug of a Cargo that draws, or an alias of one. Default: the operator's (default_image_cargo) */
            model?: string | null;
            /** Default: 1. Each is a job of its own, one after the other */
            n?: number | null;
            /** Not OpenAI's; what not to draw */
            negative_prompt?: string | null;
            output_format?: "png" | null;
            prompt: string;
            response_format?: "b64_json" | null;
            /** Not OpenAI's; the same seed draws the same picture. Picture number i of n has the seed plus i, from 0 */
            seed?: number | null;
            /** `auto` (default: the Cargo's own) or width and height, as in `512x512`; another than the Cargo can draw is 422 */
            size?: string | null;
            /** Not OpenAI's; steps of the sampler, default: the Cargo's */
            steps?: number | null;
        };
        Island: {
            agent_version: string;
            /** Models and images that it fetches now, at most 10 */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /** ISO 8601, UTC */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** Its host id, a UUID */
            id: string;
            /** False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /** ISO 8601, UTC */
            last_seen_at: string;
            /** Null unless it is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** Slugs of Cargos whose model is in memory, at most 10 */
            loaded: string[];
            /** Slugs of Cargos whose model is on its way from the disk into memory, at most 10 */
            loading: string[];
            /** By its owner; else of its machine, or made of its id */
            name: string;
            /** Jobs that it has now, the oldest 10: of which Cargo, and since when */
            running: {
                cargo: string;
                /** ISO 8601, UTC */
                since: string;
            }[];
            runtimes: {
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
                version: string;
            }[];
            /** paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** What the operator says; null unless suspended */
            suspended_because: string | null;
            /** Of these jobs */
            tokens: number;
            uptime: components["schemas"]["IslandUptime"];
        };
        /** An Island came or went, was renamed, or says something else of itself: the row of GET /islands */
        IslandChangedEvent: {
            agent_version: string;
            /** Models and images that it fetches now, at most 10 */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /** ISO 8601, UTC */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** Its host id, a UUID */
            id: string;
            /** False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /** ISO 8601, UTC */
            last_seen_at: string;
            /** Null unless it is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** Slugs of Cargos whose model is in memory, at most 10 */
            loaded: string[];
            /** Slugs of Cargos whose model is on its way from the disk into memory, at most 10 */
            loading: string[];
            /** By its owner; else of its machine, or made of its id */
            name: string;
            /** Its status is not offline */
            online: boolean;
            /** Jobs that it has now, the oldest 10: of which Cargo, and since when */
            running: {
                cargo: string;
                /** ISO 8601, UTC */
                since: string;
            }[];
            runtimes: {
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
                version: string;
            }[];
            /** paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** What the operator says; null unless suspended */
            suspended_because: string | null;
            /** Of these jobs */
            tokens: number;
            type: "island";
            uptime: components["schemas"]["IslandUptime"];
        };
        IslandDay: {
            /** UTC */
            day: string;
            /** Credits, with up to 6 decimals */
            earned: number;
            jobs: {
                cancelled: number;
                completed: number;
                failed: number;
                /** Attempts that failed or were lost here, and whose jobs were tried again */
                retried: number;
                timeout: number;
            };
            tokens: number;
            /** Share of the day connected, 0 to 1; null before it was first seen */
            uptime: number | null;
        };
        IslandDetail: {
            agent_version: string;
            /** Slugs of enabled Cargos whose model or image is on its disk; empty unless it is connected */
            cached_cargos: string[];
            /** Models and images on its disk, at most 200; empty unless it is connected */
            cached_models: string[];
            /** The last 30 UTC days with today, oldest first, without a gap */
            days: components["schemas"]["IslandDay"][];
            /** Models and images that it fetches now, at most 10 */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /** ISO 8601, UTC */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** Its host id, a UUID */
            id: string;
            /** False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /** ISO 8601, UTC */
            last_seen_at: string;
            /** Null unless it is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** Slugs of Cargos whose model is in memory, at most 10 */
            loaded: string[];
            /** Slugs of Cargos whose model is on its way from the disk into memory, at most 10 */
            loading: string[];
            /** By its owner; else of its machine, or made of its id */
            name: string;
            /** Jobs that it has now, the oldest 10: of which Cargo, and since when */
            running: {
                cargo: string;
                /** ISO 8601, UTC */
                since: string;
            }[];
            runtimes: {
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
                version: string;
            }[];
            /** paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** What the operator says; null unless suspended */
            suspended_because: string | null;
            /** Of these jobs */
            tokens: number;
            uptime: components["schemas"]["IslandUptime"];
        };
        /** As it last said. What is not known is null */
        IslandDownload: {
            /** Of the last 10 s */
            bytes_per_second: number | null;
            /** Slug */
            cargo: string;
            /** 0 to 1; null while the size is not known */
            fraction: number | null;
            received_bytes: number | null;
            total_bytes: number | null;
        };
        /** As in the ledger, by the UTC day of the entry */
        IslandEarnings: {
            /** Credits, with up to 6 decimals */
            days_7: number;
            /** Credits, with up to 6 decimals */
            days_30: number;
            /** Credits, with up to 6 decimals */
            today: number;
        };
        /** After the caps of its owner. What is not known is null */
        IslandHardware: {
            arch: string;
            cpu_model: string | null;
            /** In MB of 2^20 bytes */
            disk_budget_mb: number;
            /** In MB of 2^20 bytes */
            disk_free_mb: number | null;
            gpus: {
                driver: string | null;
                name: string;
                unified_memory: boolean;
                vendor: string | null;
                /** In MB of 2^20 bytes */
                vram_mb: number | null;
            }[];
            logical_cores: number;
            os_name: string | null;
            physical_cores: number | null;
            platform: string;
            /** In MB of 2^20 bytes */
            ram_mb: number;
        };
        /** Jobs that ended here in the last 30 UTC days; stored as uptime is */
        IslandJobs: {
            cancelled: number;
            completed: number;
            failed: number;
            /** Attempts that failed or were lost here, and whose jobs were tried again */
            retried: number;
            timeout: number;
        };
        /** As it last said: every 10 s. What is not known is null */
        IslandLoad: {
            /** 0 to 1, over all cores */
            cpu: number | null;
            /** In MB of 2^20 bytes */
            free_ram_mb: number | null;
            /** In MB of 2^20 bytes */
            free_vram_mb: number | null;
            /** 0 to 1, of its busiest graphics card */
            gpu: number | null;
            /** Jobs that it runs at the same time */
            slots: number;
            slots_busy: number;
            /** Of its hottest processor or graphics card, in degrees Celsius */
            temperature_c: number | null;
        };
        /** GET /islands does not list it any more */
        IslandRemovedEvent: {
            id: string;
            type: "island_removed";
        };
        IslandToken: {
            /** ISO 8601, UTC */
            created_at: string;
            id: string;
            /** When an Island last began a session with it; a session may last for weeks */
            last_used_at: string | null;
            name: string;
        };
        /** Share of the time connected, 0 to 1, in the UTC day, the last 7 and the last 30 UTC days with today, and not before it was first seen. Stored once a minute; a crash of a coordinator loses up to a minute */
        IslandUptime: {
            days_7: number | null;
            days_30: number | null;
            today: number | null;
        };
        Job: {
            /** Attempts begun so far; one that an Island refused does not count */
            attempts: number;
            batch_id: string | null;
            /** ISO 8601, UTC */
            completed_at: string | null;
            /** ISO 8601, UTC */
            created_at: string;
            duration_ms: number | null;
            error: {
                code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
                message: string;
                retryable: boolean;
            } | null;
            finish_reason: "stop" | "length" | "tool_calls" | null;
            id: string;
            /** Parameters of the request that the job does without, as in the header `Atoll-Ignored` */
            ignored: string[];
            /** Empty once it was removed */
            input: {
                [key: string]: unknown;
            };
            /** When the input was removed: by its owner, or because the operator keeps it no longer */
            input_removed_at: string | null;
            island_id: string | null;
            /** Text, or the JSON value that the Cargo produced; null until completed */
            output?: unknown;
            /** When output, stream and the message of an error were removed */
            output_removed_at: string | null;
            priority: number;
            /** ISO 8601, UTC */
            started_at: string | null;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            timings: {
                first_output_ms: number | null;
                load_ms: number;
                run_ms: number;
            } | null;
            usage: components["schemas"]["Usage"] | null;
            waiting: components["schemas"]["Waiting"] | null;
            webhook: components["schemas"]["WebhookLog"] | null;
            workload_id: number;
            workload_slug: string;
        };
        /** A job is new or in another state: the row of GET /jobs, without workload_id and input */
        JobChangedEvent: {
            batch_id: string | null;
            /** The same as workload_slug */
            cargo: string;
            /** Why it failed or timed out */
            code?: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
            /** ISO 8601, UTC */
            completed_at: string | null;
            /** ISO 8601, UTC */
            created_at: string;
            id: string;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            type: "job";
            /** ISO 8601, UTC */
            updated_at: string;
            workload_slug: string;
        };
        /** Any number of status, token, reasoning, tool_call, progress and image, then exactly one done or error as the last */
        JobEvent: components["schemas"]["StatusEvent"] | components["schemas"]["TokenEvent"] | components["schemas"]["ReasoningEvent"] | components["schemas"]["ToolCallEvent"] | components["schemas"]["ProgressEvent"] | components["schemas"]["ImageEvent"] | components["schemas"]["DoneEvent"] | components["schemas"]["ErrorEvent"];
        JobOutput: {
            id: string;
            /** The job is completed and `output` is all of it */
            is_complete: boolean;
            /** Text so far, the last image as {format, data}, or the output once completed; null before any output */
            output?: unknown;
            /** The last progress that the Cargo reported */
            progress: {
                step: number;
                total: number;
            } | null;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            /** Model tokens delivered */
            tokens: number;
            /** Null until the job has ended */
            usage: components["schemas"]["Usage"] | null;
            workload_slug: string;
        };
        JobSummary: {
            batch_id: string | null;
            /** ISO 8601, UTC */
            completed_at: string | null;
            /** ISO 8601, UTC */
            created_at: string;
            id: string;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            workload_slug: string;
        };
        JobWebhook: {
            data: {
                /** Attempts begun so far; one that an Island refused does not count */
                attempts: number;
                batch_id: string | null;
                /** ISO 8601, UTC */
                completed_at: string | null;
                /** ISO 8601, UTC */
                created_at: string;
                duration_ms: number | null;
                error: {
                    code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
                    message: string;
                    retryable: boolean;
                } | null;
                finish_reason: "stop" | "length" | "tool_calls" | null;
                id: string;
                /** Parameters of the request that the job does without, as in the header `Atoll-Ignored` */
                ignored: string[];
                /** When the input was removed: by its owner, or because the operator keeps it no longer */
                input_removed_at: string | null;
                island_id: string | null;
                /** Text, or the JSON value that the Cargo produced; null until completed */
                output?: unknown;
                /** The output is too large for a webhook; GET /jobs/{id} has it */
                output_omitted: boolean;
                /** When output, stream and the message of an error were removed */
                output_removed_at: string | null;
                priority: number;
                /** ISO 8601, UTC */
                started_at: string | null;
                status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
                timings: {
                    first_output_ms: number | null;
                    load_ms: number;
                    run_ms: number;
                } | null;
                usage: components["schemas"]["Usage"] | null;
                workload_id: number;
                workload_slug: string;
            };
            /** ISO 8601, UTC */
            timestamp: string;
            type: "job.completed" | "job.failed" | "job.cancelled" | "job.timeout";
        };
        KnownAccount: {
            /** ISO 8601, UTC */
            created_at: string;
            /** Credits, with up to 6 decimals */
            credits: number;
            email: string;
            /** Set aside for unfinished jobs */
            held: number;
            id: string;
            /** Known ones, connected or not */
            islands: number;
            role: "user" | "operator";
            suspended: components["schemas"]["Suspension"] | null;
            unfinished_jobs: number;
        };
        KnownAccountDetail: {
            /** ISO 8601, UTC */
            created_at: string;
            /** Credits, with up to 6 decimals */
            credits: number;
            email: string;
            /** Set aside for unfinished jobs */
            held: number;
            id: string;
            /** Known ones, connected or not */
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
            /** Null for a Cargo that breaks a rule of this version */
            pinned: boolean | null;
            /** In force for new jobs; null as above */
            price_per_job: number | null;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | null;
            /** That of its file; null unless it is shipped */
            shipped_price_per_job: number | null;
            slug: string;
            status: "offered" | "waiting" | "unpinned" | "off" | "disabled" | "hidden";
        };
        KnownIsland: {
            account_email: string | null;
            /** Of its owner */
            account_id: string;
            agent_version: string;
            /** Models and images that it fetches now, at most 10 */
            downloads: components["schemas"]["IslandDownload"][];
            /** ISO 8601, UTC */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** Its host id, a UUID */
            id: string;
            /** False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at */
            is_live: boolean;
            /** ISO 8601, UTC */
            last_seen_at: string;
            /** Null unless it is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** Slugs of Cargos whose model is in memory, at most 10 */
            loaded: string[];
            /** Slugs of Cargos whose model is on its way from the disk into memory, at most 10 */
            loading: string[];
            /** By its owner; else of its machine, or made of its id */
            name: string;
            /** Jobs that it has now, the oldest 10: of which Cargo, and since when */
            running: {
                cargo: string;
                /** ISO 8601, UTC */
                since: string;
            }[];
            runtimes: {
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
                version: string;
            }[];
            /** paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** What the operator says; null unless suspended */
            suspended_because: string | null;
        };
        KnownIslandDetail: {
            account_email: string | null;
            /** Of its owner */
            account_id: string;
            agent_version: string;
            /** Slugs of enabled Cargos whose model or image is on its disk; empty unless it is connected */
            cached_cargos: string[];
            /** Models and images on its disk, at most 200; empty unless it is connected */
            cached_models: string[];
            /** The last 30 UTC days with today, oldest first, without a gap */
            days: components["schemas"]["IslandDay"][];
            /** Models and images that it fetches now, at most 10 */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /** ISO 8601, UTC */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** Its host id, a UUID */
            id: string;
            /** False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /** ISO 8601, UTC */
            last_seen_at: string;
            /** Null unless it is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** Slugs of Cargos whose model is in memory, at most 10 */
            loaded: string[];
            /** Slugs of Cargos whose model is on its way from the disk into memory, at most 10 */
            loading: string[];
            /** By its owner; else of its machine, or made of its id */
            name: string;
            /** Jobs that it has now, the oldest 10: of which Cargo, and since when */
            running: {
                cargo: string;
                /** ISO 8601, UTC */
                since: string;
            }[];
            runtimes: {
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
                version: string;
            }[];
            /** paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** What the operator says; null unless suspended */
            suspended_because: string | null;
            /** Of these jobs */
            tokens: number;
            uptime: components["schemas"]["IslandUptime"];
        };
        /** Without what its owner asked and got, which operators do not see */
        KnownJob: {
            /** Null for an account that was deleted */
            account_email: string | null;
            account_id: string;
            /** Begun so far */
            attempts: number;
            batch_id: string | null;
            /** A client waits for the answer */
            chat: boolean;
            /** ISO 8601, UTC */
            completed_at: string | null;
            completion_tokens: number | null;
            /** ISO 8601, UTC */
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
            /** ISO 8601, UTC */
            started_at: string | null;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            workload_slug: string;
        };
        LedgerLine: {
            /** Change of `credits`; negative: fewer */
            amount: number;
            /** `credits` afterwards */
            balance: number;
            /** On the hold of a whole batch; its jobs are charged and released one by one */
            batch_id: string | null;
            /** ISO 8601, UTC */
            created_at: string;
            /** Change of the credits set aside for unfinished jobs */
            held: number;
            /** Increases with time */
            id: number;
            /** On an earning: a job of any account */
            job_id: string | null;
            /** grant: credits given. correction: credits that an operator took back. hold: set aside when a job is submitted. charge: taken from what was set aside. release: set aside, not charged, and returned. earning: an Island of the account ran a job */
            kind: "grant" | "correction" | "hold" | "charge" | "release" | "earning";
            /** What an operator said of a grant or correction */
            note: string | null;
            /** Cargo of the job or batch */
            workload_slug: string | null;
        };
        ListedJob: {
            batch_id: string | null;
            /** ISO 8601, UTC */
            completed_at: string | null;
            /** ISO 8601, UTC */
            created_at: string;
            id: string;
            /** Null if it is longer than 4 KB; empty once it was removed */
            input: {
                [key: string]: unknown;
            } | null;
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            workload_id: number;
            workload_slug: string;
        };
        Message: {
            /** ISO 8601, UTC */
            completed_at: string | null;
            /** Of an answer in progress: the text so far */
            content: string;
            /** ISO 8601, UTC */
            created_at: string;
            error: {
                code: string;
                message: string;
            } | null;
            finish_reason: "stop" | "length" | "tool_calls" | null;
            id: string;
            /** Of an answer: the job that produces it */
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
            /** Lowered as in chats */
            max_tokens: number;
            /** With at most 16384 parts together */
            messages: {
                /** Text, or a list of blocks; texts are joined */
                content: string | ({
                    text: string;
                    type: "text";
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
                    /** As `response_format` of chats, with `strict` */
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
            /** For a Cargo that thinks; by default it does not. For others, `enabled` is ignored */
            thinking?: {
                budget_tokens?: null;
                type: "disabled";
            } | {
                budget_tokens?: null;
                type: "adaptive" | "between_tools";
            } | {
                /** Of 2048 and more, 2048 are used */
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
            /** Your own, 256 KB together; built-in ones are not offered to the model */
            tools?: ({
                /** A part of the prompt */
                description?: string | null;
                /** The JSON Schema of an object */
                input_schema: {
                    [key: string]: unknown;
                };
                /** 1 to 64 of a-z, A-Z, 0-9, _ and - */
                name: string;
                /** The input is valid by `input_schema`, or the answer fails (`schema_unmet`) */
                strict?: boolean | null;
                type?: "custom" | null;
            } | {
                type: string;
            })[] | null;
            /** 0: any number */
            top_k?: number | null;
            top_p?: number | null;
        };
        Model: {
            /** Slug of the Cargo that an alias stands for */
            alias_of: string | null;
            /** A connected Island can run it now; else requests wait for one */
            available: boolean;
            /** Endpoints that serve it, by their paths */
            capabilities: string[];
            /** Tokens of prompt and answer together; null: no limit is known */
            context_length: number | null;
            /** When it came into the catalog of this network: Unix time in seconds */
            created: number;
            /** Median time from a chat's submission to its first token, measured in the same way */
            first_token_ms: number | null;
            /** Islands that can run it now and have a free slot */
            free: number;
            /** Slug of the Cargo, or the alias */
            id: string;
            /** Requests to an endpoint of its `capabilities` that name no model run on it */
            is_default: boolean;
            /** Most tokens of an answer, for `max_tokens`; null: it does not chat */
            max_output_tokens: number | null;
            object: "model";
            owned_by: string;
            /** A request costs `per_job` for each of its jobs, however many tokens it has */
            pricing: {
                /** Credits, with up to 6 decimals */
                per_job: number;
                unit: "credits";
            };
            /** An Island that can run it now has its model or image, or needs none: no download first */
            ready: boolean;
            /** It thinks before it answers: `reasoning_content`, `reasoning_effort` */
            reasoning: boolean;
            /** Median of the last 100 jobs in 24 h, measured by the coordinator that answers, since it started; null: none was measured */
            tokens_per_second: number | null;
            /** Who tells it of tools; null: nobody, it calls none. template: its own chat template. grammar: our text in the prompt. A grammar keeps its calls either way */
            tool_calls: "template" | "grammar" | null;
            type: "chat" | "embedding" | "rerank" | "classification" | "image" | "transcription" | "speech";
        };
        Moderation: {
            /** Of the last text's job */
            id: string;
            model: string;
            results: {
                /** True from a score of 0.5 on */
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
                /** Any category is true */
                flagged: boolean;
                /** The Cargo's own, best first: what is not one of OpenAI's categories is here only */
                labels: {
                    label: string;
                    score: number;
                }[];
            }[];
        };
        ModerationRequest: {
            /** A text, or several, a job each, four at once */
            input: string | (string | {
                text: string;
                type: "text";
            })[];
            /** Default: the operator's (default_moderation_cargo). Slug of an onnx Cargo with the task text-classification */
            model?: string | null;
        };
        Network: {
            /** Public Cargos that can run now, by slug; GET /cargos lists all */
            cargos: components["schemas"]["AvailableCargo"][];
            /** False: a coordinator did not answer; its Islands are missing */
            is_complete: boolean;
            islands_online: number;
            /** What a new account gets */
            new_account_credits: number;
            /** Who may open an account: everybody, whoever proves an e-mail address, or only the operator */
            registration: "open" | "email" | "closed";
        };
        /** Over all coordinators, at most a second and a half old; the number of known Islands is at most as many ms old as it is */
        NetworkOverview: {
            coordinators: components["schemas"]["CoordinatorOverview"][];
            /** Jobs that failed or timed out */
            errors_last_minute: number;
            /** From a job's submission (of a batch: its admission) to its first token, of jobs that ended in the last minute; at most 5 % off */
            first_token_ms: {
                p50: number | null;
                p99: number | null;
            };
            /** False: the sums lack a coordinator, which does not answer */
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
            /** Of Islands that take new jobs */
            slots: {
                all: number;
                free: number;
            };
            tokens_per_second: number;
            waiting_by_reason: {
                jobs: number;
                reason: "own_islands_only" | "no_island_online" | "no_island_offers_runtime" | "no_island_fits" | "all_busy" | "all_refused" | "all_failing" | "model_downloading" | "starting" | "no_output" | "account_limit";
            }[];
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
                /** Thoughts of a model that thinks */
                content: {
                    text: string;
                    type: "reasoning_text";
                }[];
                /** Opaque; nothing is encrypted, as `content` has it all */
                encrypted_content: string;
                id: string;
                status: "in_progress" | "completed" | "incomplete";
                summary: unknown[];
                type: "reasoning";
            } | {
                content: {
                    annotations: unknown[];
                    /** Empty unless they were asked for */
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
                /** JSON */
                arguments: string;
                call_id: string;
                id: string;
                name: string;
                /** Of a function that a namespace has */
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
                    /** In errors only */
                    name: string;
                    /** As `response_format` of chats */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** As `response_format` of chats */
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
                /** Thoughts of a model that thinks */
                content: {
                    text: string;
                    type: "reasoning_text";
                }[];
                /** Opaque; nothing is encrypted, as `content` has it all */
                encrypted_content: string;
                id: string;
                status: "in_progress" | "completed" | "incomplete";
                summary: unknown[];
                type: "reasoning";
            } | {
                content: {
                    annotations: unknown[];
                    /** Empty unless they were asked for */
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
                /** JSON */
                arguments: string;
                call_id: string;
                id: string;
                name: string;
                /** Of a function that a namespace has */
                namespace?: string;
                status: "in_progress" | "completed" | "incomplete";
                type: "function_call";
            };
            output_index: number;
            sequence_number: number;
            type: "response.output_item.added";
        } | {
            item: {
                /** Thoughts of a model that thinks */
                content: {
                    text: string;
                    type: "reasoning_text";
                }[];
                /** Opaque; nothing is encrypted, as `content` has it all */
                encrypted_content: string;
                id: string;
                status: "in_progress" | "completed" | "incomplete";
                summary: unknown[];
                type: "reasoning";
            } | {
                content: {
                    annotations: unknown[];
                    /** Empty unless they were asked for */
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
                /** JSON */
                arguments: string;
                call_id: string;
                id: string;
                name: string;
                /** Of a function that a namespace has */
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
                /** Empty unless they were asked for */
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
                /** Empty unless they were asked for */
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
        /** Over all coordinators, at most a second and a half old; the number of known Islands is at most as many ms old as it is */
        OverviewEvent: {
            coordinators: components["schemas"]["CoordinatorOverview"][];
            /** Jobs that failed or timed out */
            errors_last_minute: number;
            /** From a job's submission (of a batch: its admission) to its first token, of jobs that ended in the last minute; at most 5 % off */
            first_token_ms: {
                p50: number | null;
                p99: number | null;
            };
            /** False: the sums lack a coordinator, which does not answer */
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
            /** Of Islands that take new jobs */
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
        };
        OwnedCargo: {
            accept_limit_s?: number;
            adapters?: {
                scale?: number;
                sha256: string;
                size_bytes?: number | null;
                url: string;
            }[];
            /** By the operator. Until then only you see and run it */
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
            /** ISO 8601, UTC */
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
            price_per_job: number;
            quantization?: string;
            reasoning?: boolean;
            required_ram_mb: number;
            required_vram_mb: number;
            /** Number of changes so far, the first version included */
            revision: number;
            run_limit_s: number;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            silence_limit_s?: number;
            slug: string;
            start_limit_s?: number;
            task?: "feature-extraction" | "text-ranking";
            tools?: "template" | "grammar";
            /** ISO 8601, UTC */
            updated_at: string;
            wait_limit_s: number;
            weights?: "fp32" | "fp16" | "int8" | "uint8" | "q8" | "q4" | "q4f16" | "bnb4";
        };
        PairingCode: {
            /** Eight letters and digits, none of 0, 1, I and O */
            code: string;
            /** ISO 8601, UTC */
            expires_at: string;
            /** Of the token that the code becomes */
            name: string;
        };
        PostMessage: {
            content: string;
            frequency_penalty?: number | null;
            /** By ids of the model's own vocabulary, at most 300; -100 excludes a token */
            logit_bias?: {
                [key: string]: number;
            } | null;
            max_completion_tokens?: number | null;
            /** Lowered to the Cargo's context, or to 4096 where that is more */
            max_tokens?: number | null;
            min_p?: number | null;
            presence_penalty?: number | null;
            /** Divides the logits of tokens that the answer has already; 1: no penalty */
            repeat_penalty?: number | null;
            response_format?: {
                type: "text";
            } | {
                type: "json_object";
            } | {
                json_schema: {
                    /** In errors only */
                    name?: string;
                    /** A JSON Schema */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** Check what a grammar cannot keep */
                    strict?: boolean | null;
                };
                type: "json_schema";
            } | null;
            /** The same answer on the same engine and model */
            seed?: number | null;
            stop?: string | string[] | null;
            stream?: boolean | null;
            /** Default 0.7 */
            temperature?: number | null;
            /** Not served: null */
            tools?: null;
            /** 0: any number */
            top_k?: number | null;
            top_p?: number | null;
        };
        ProgressEvent: {
            step: number;
            total: number;
            type: "progress";
        };
        QueueLine: {
            jobs: number;
            /** Of the oldest of them at the coordinator that has most */
            message: string;
            /** The account whose Islands alone may run them, until the Cargo is approved */
            only_islands_of: string | null;
            reason: "own_islands_only" | "no_island_online" | "no_island_offers_runtime" | "no_island_fits" | "all_busy" | "all_refused" | "all_failing" | "model_downloading" | "starting" | "no_output" | "account_limit";
            /** Of the one that waits longest */
            waiting_since: string;
            workload_slug: string;
        };
        /** What a model that thinks wrote beside its answer */
        ReasoningEvent: {
            /** Thoughts to append */
            content: string;
            type: "reasoning";
        };
        Recommendation: {
            demand_score: number;
            estimated_earnings_per_job: string;
            /** Chats without a model use it */
            is_default: boolean;
            model_hash: string | null;
            model_url: string;
            queued_demand: number;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            workload_slug: string;
        };
        RenameIsland: {
            /** Empty: the default name again */
            name: string;
        };
        Reranking: {
            /** Of the job */
            id: string;
            /** `usage` in the shape of Cohere's client */
            meta: {
                tokens: {
                    input_tokens: number;
                    output_tokens: 0;
                };
            };
            model: string;
            object: "list";
            /** Best first */
            results: {
                document?: {
                    text: string;
                };
                /** Of the document in the request */
                index: number;
                /** By a Cargo that ranks, or (1 + cosine of the two vectors) / 2. To compare within one answer only */
                relevance_score: number;
            }[];
            usage: {
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        RerankRequest: {
            documents: (string | {
                text: string;
            })[];
            /** Default: the operator's (default_rerank_cargo). Slug of a Cargo with the task text-ranking or feature-extraction */
            model?: string | null;
            query: string;
            /** Default: false */
            return_documents?: boolean | null;
            /** Best results to return; default: all */
            top_n?: number | null;
        };
        /** First, and whenever something may have been missed or too much changed at once: read your lists now. What changes from here on is sent */
        ResetEvent: {
            type: "reset";
        };
        ResponseRequest: {
            /** Answer at once; the response goes on without its client, who asks for it by its id. Without `stream`, and with `store` */
            background?: boolean | null;
            /** `reasoning.encrypted_content` is for Cargos that think; for others it is ignored */
            include?: ("message.output_text.logprobs" | "reasoning.encrypted_content" | "file_search_call.results" | "web_search_call.results" | "web_search_call.action.sources" | "message.input_image.image_url" | "computer_call_output.output.image_url" | "code_interpreter_call.outputs")[] | null;
            /** With at most 16384 parts together */
            input: string | ({
                /** Text, or a list of text parts, which are joined */
                content: string | {
                    text: string;
                    type: "input_text" | "output_text" | "text";
                }[];
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
                /** The model reads `{"input": …}` */
                input: string;
                name: string;
                namespace?: string | null;
                type: "custom_tool_call";
            } | {
                /** The model reads its JSON */
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
                /** An item of a stored response */
                id: string;
                type: "item_reference";
            })[];
            instructions?: string | null;
            /** Lowered as in chats */
            max_output_tokens?: number | null;
            /** Up to 16 texts */
            metadata?: {
                [key: string]: string;
            } | null;
            /** Default: the operator's default chat Cargo */
            model?: string | null;
            /** Default true: up to 16 calls; of a named function always one */
            parallel_tool_calls?: boolean | null;
            /** A stored response that has ended with an answer, whole or cut by `max_output_tokens`: its conversation comes before `input`, without its instructions */
            previous_response_id?: string | null;
            reasoning?: {
                /** For Cargos that think; for others ignored */
                effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
            } | null;
            /** Default true. False: prompt and answer are removed when the response has ended, however it ends */
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
                    /** In errors only */
                    name: string;
                    /** As `response_format` of chats */
                    schema: {
                        [key: string]: unknown;
                    };
                    /** As `response_format` of chats */
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
            /** Functions and namespaces of functions, 256 KB together; calls by a grammar */
            tools?: ({
                /** A part of the prompt */
                description?: string | null;
                /** 1 to 64 of a-z, A-Z, 0-9, _ and - */
                name: string;
                /** The JSON Schema of an object, as in `text.format` */
                parameters?: {
                    [key: string]: unknown;
                } | null;
                /** Arguments are valid by `parameters`, or the answer fails (`schema_unmet`) */
                strict?: boolean | null;
                type: "function";
            } | {
                description?: string | null;
                name: string;
                /** Of a namespace: the model knows the function `lookup` of `crm` as `crm__lookup` */
                tools: ({
                    /** A part of the prompt */
                    description?: string | null;
                    /** 1 to 64 of a-z, A-Z, 0-9, _ and - */
                    name: string;
                    /** The JSON Schema of an object, as in `text.format` */
                    parameters?: {
                        [key: string]: unknown;
                    } | null;
                    /** Arguments are valid by `parameters`, or the answer fails (`schema_unmet`) */
                    strict?: boolean | null;
                    type: "function";
                } | {
                    type: string;
                })[];
                type: "namespace";
            } | {
                type: string;
            })[] | null;
            /** 20 for answers of at most 4761 tokens */
            top_logprobs?: number | null;
            top_p?: number | null;
        };
        Session: {
            account: components["schemas"]["Account"];
            /** ISO 8601, UTC */
            expires_at: string;
            /** st_…; has every scope and can manage keys */
            token: string;
        };
        SetAccountLimits: {
            /** Left out: as it is; null: the default again */
            concurrent_jobs?: number | null;
            /** Left out: as it is; null: the default again */
            concurrent_streams?: number | null;
            /** Left out: as it is; null: the default again */
            requests_per_minute?: number | null;
            /** Left out: as it is; null: the default again */
            share?: number | null;
        };
        SetCargoPrice: {
            /** Null: the shipped price again */
            price_per_job: number | null;
        };
        SettingInForce: {
            allowed: string;
            /** Or what an unset key means */
            default: string;
            /** Name of its variable */
            environment: string;
            key: string;
            meaning: string;
            source: "flag" | "environment" | "file" | "default";
            /** In the key's units; null: unset; (hidden): a secret that is set */
            value: string | null;
        };
        SignedCargo: {
            args: string[] | null;
            /** Null: the image's own */
            command: string[] | null;
            gpu: boolean;
            image: string | null;
            /** Null for an image: NOT PINNED, the tag decides */
            image_digest: string | null;
            model_bytes: number | null;
            model_commit: string | null;
            model_hash: string | null;
            model_url: string | null;
            /** True: it reaches the public internet */
            network: boolean;
            /** Credits, with up to 6 decimals */
            price_per_job: number;
            required_ram_mb: number;
            required_vram_mb: number;
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
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
            /** A long text is several jobs, cut between sentences */
            input: string;
            /** Slug of a Cargo that speaks, or an alias of one. Default: the operator's (default_speech_cargo) */
            model?: string | null;
            /** Default: mp3. pcm: 24 kHz, 16 bit, mono, little-endian */
            response_format?: "mp3" | "wav" | "pcm" | null;
            /** Default: 1; 422 if the Cargo has one speed only */
            speed?: number | null;
            /** Default: audio */
            stream_format?: "audio" | "sse" | null;
            /** A voice of the Cargo; `default` or none: the Cargo's first. OpenAI's names are 422 where the Cargo has other ones */
            voice?: string | null;
        };
        /** A change of state. One with a `message` tells the state again, with the id of the event before, and comes at once and every 5 s while there is no output */
        StatusEvent: {
            /** Why there is no output yet */
            message?: string;
            /** How far the download of the model is, if that is known */
            percent?: number;
            /** streaming: output follows */
            state: "pending" | "queued" | "running" | "streaming";
            type: "status";
        };
        SubmitBatch: {
            /** fail_fast: the first job that fails or times out cancels the others. best_effort: all run */
            fail_mode?: "best_effort" | "fail_fast";
            /** One job for each input */
            inputs: {
                [key: string]: unknown;
            }[];
            priority?: number;
            /** Signs the POST: whsec_ and base64 of 24 to 64 bytes. Default: a new one, which only this answer shows */
            webhook_secret?: string;
            /** URL that gets a signed POST (Standard Webhooks) at the end; https, and not a private address */
            webhook_url?: string;
            /** Cargo slug */
            workload: string;
        };
        SubmitJob: {
            /** Parameters of the Cargo; see its input_schema */
            input: {
                [key: string]: unknown;
            };
            priority?: number;
            /** Signs the POST: whsec_ and base64 of 24 to 64 bytes. Default: a new one, which only this answer shows */
            webhook_secret?: string;
            /** URL that gets a signed POST (Standard Webhooks) at the end; https, and not a private address */
            webhook_url?: string;
            /** Cargo slug */
            workload: string;
        };
        SubmittedBatch: {
            /** ISO 8601, UTC */
            completed_at: string | null;
            counts: components["schemas"]["BatchCounts"];
            /** ISO 8601, UTC */
            created_at: string;
            fail_mode: "best_effort" | "fail_fast";
            id: string;
            /** In the order of the inputs */
            jobs: components["schemas"]["BatchJob"][];
            /** Only with `include=output`: `output_offset` of the next request, as the outputs of one answer are bounded; null: there are no more */
            next_output_offset?: number | null;
            priority: number;
            /** pending: no job has started. failed: all jobs have ended, at least one failed or timed out */
            status: "pending" | "running" | "completed" | "failed" | "cancelled";
            webhook: components["schemas"]["WebhookLog"] | null;
            /** The secret that was made for the webhook; shown only here and when the request is repeated with its Idempotency-Key */
            webhook_secret?: string;
            workload_id: number;
            workload_slug: string;
        };
        SubmittedJob: {
            /** ISO 8601, UTC */
            created_at: string;
            id: string;
            input: {
                [key: string]: unknown;
            };
            status: "submitted";
            /** The secret that was made for the webhook; shown only here and when the request is repeated with its Idempotency-Key */
            webhook_secret?: string;
            workload_id: number;
            workload_slug: string;
        };
        Suspend: {
            /** Told to who is suspended */
            reason: string;
        };
        Suspension: {
            reason: string;
            /** ISO 8601, UTC */
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
            /** Of a stream: in its last chunk, if it was asked for */
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
            /** Begin each text with its prompt */
            echo?: boolean | null;
            frequency_penalty?: number | null;
            /** By ids of the model's own vocabulary, at most 300; -100 excludes a token */
            logit_bias?: {
                [key: string]: number;
            } | null;
            /** Default 16; lowered as in chats */
            max_tokens?: number | null;
            min_p?: number | null;
            /** Slug or alias of a chat Cargo */
            model: string;
            presence_penalty?: number | null;
            /** Continued as it is, without the model's chat template. A list: one job for each text, four at once; lists of tokens are refused */
            prompt: string | string[];
            /** Divides the logits of tokens that the answer has already; 1: no penalty */
            repeat_penalty?: number | null;
            /** The same answer on the same engine and model */
            seed?: number | null;
            stop?: string | string[] | null;
            /** For one prompt */
            stream?: boolean | null;
            stream_options?: {
                include_usage?: boolean | null;
            } | null;
            /** Default 0.7 */
            temperature?: number | null;
            /** 0: any number */
            top_k?: number | null;
            top_p?: number | null;
        };
        TokenEvent: {
            /** Text to append */
            content: string;
            type: "token";
        };
        /** A part of a call of a tool */
        ToolCallEvent: {
            /** JSON text to append */
            arguments: string;
            /** In the first part of a call */
            id?: string;
            /** Which call of the answer, from 0 */
            index: number;
            /** In the first part of a call */
            name?: string;
            type: "tool_call";
        };
        Transcription: {
            /** Seconds */
            duration?: number;
            /** As it was asked for */
            language?: string;
            segments?: {
                end: number;
                id: number;
                start: number;
                text: string;
            }[];
            /** Of verbose_json, like what follows */
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
            /** A WAV file of at most 25 MB, about 13 minutes at 16 kHz and 16 bit */
            file: string;
            /** Code or English name; found out when left out */
            language?: string;
            /** Slug of a Cargo that writes speech down, or an alias. Default: the operator's (default_transcription_cargo) */
            model?: string;
            response_format?: "json" | "text" | "srt" | "vtt" | "verbose_json";
            /** Default: segment. With `verbose_json` only; 422 if the Cargo has none */
            "timestamp_granularities[]"?: ("segment" | "word")[];
        };
        TranslationForm: {
            /** A WAV file of at most 25 MB, about 13 minutes at 16 kHz and 16 bit */
            file: string;
            /** Slug of a Cargo that writes speech down, or an alias. Default: the operator's (default_transcription_cargo) */
            model?: string;
            response_format?: "json" | "text" | "srt" | "vtt" | "verbose_json";
        };
        /** Fields that are left out stay as they are; a title of null removes the title */
        UpdateConversation: {
            /** For the client's own use: at most 16 entries */
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
            /** What it is for. Inputs of batches need `batch`; for all else any of them will do */
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
            /** The key that submitted the jobs; null for a session, and for what is earned */
            api_key_id: string | null;
            completion_tokens: number;
            /** Credits, with up to 6 decimals */
            credits: number;
            /** When the jobs ended, in UTC */
            day: string | null;
            /** Jobs that cost or earned something */
            jobs: number;
            /** spent: charged for jobs. earned: with Islands of the account */
            kind: "spent" | "earned";
            prompt_tokens: number;
            workload_slug: string | null;
        };
        /** Why the job has not started, or runs and is silent; else null */
        Waiting: {
            /** The reason as a sentence */
            message: string;
            /** How far the download of the model is, if that is known */
            percent: number | null;
            /** What the Island that has the job has yet to do; null while no Island has it */
            phase: "accept" | "start" | "first_output" | "silence" | null;
            /** Place in the queue of its Cargo; 1 is next */
            position: number;
            reason: "own_islands_only" | "no_island_online" | "no_island_offers_runtime" | "no_island_fits" | "all_busy" | "all_refused" | "all_failing" | "model_downloading" | "starting" | "no_output" | "account_limit";
        };
        WebhookLog: {
            /** The last ten tries, oldest first */
            attempts: {
                /** ISO 8601, UTC */
                at: string;
                error: string | null;
                status: number | null;
            }[];
            /** waiting: the job or batch has not ended. pending: to be delivered. failed: given up after a day, or because of a 410 */
            state: "waiting" | "pending" | "delivered" | "failed";
            url: string;
        };
    };
}
/** Operations by method and path. */
export interface calls {
    /** The caller's account and credits */
    "get /account": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Account"];
                };
            };
        };
    };
    /** Delete the account for good. Needs a session and the password. Unfinished jobs are cancelled; keys, sessions and Island tokens end at once; prompts, answers, conversations, Cargos and the e-mail address are removed. What credits are left go back to the network. For the books the account's id stays, with its entries of the ledger, and the facts of its jobs: times, Cargo, state, tokens and charge. */
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
                        /** What stays for the books, under the account's id */
                        kept: string[];
                    };
                };
            };
        };
    };
    /** Change the password or the e-mail address. Needs a session and the present password. With another password all other sessions end, and an address that waits for its proof is dropped; API keys stay. Where the coordinator sends mail, another address counts once the token that it is mailed is used (POST /auth/email, within an hour), and `pending_email` has it, the same whether or not another account has the address. Elsewhere it counts at once, and one that is taken is 422 email_taken. */
    "patch /account": {
        requestBody: {
            "application/json": components["schemas"]["ChangeAccount"];
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        /** ISO 8601, UTC */
                        created_at: string;
                        /** Credits, with up to 6 decimals */
                        credits: number;
                        email: string;
                        id: string;
                        /** An address that waits for its proof */
                        pending_email: string | null;
                        role: "user" | "operator";
                    };
                };
            };
        };
    };
    /** List your own Cargos, by slug, with their approval */
    "get /account/cargos": {
        parameters: {
            query?: {
                limit?: number;
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
    /** List changes of the account's credits, newest first. `amount` of all lines adds up to the account's `credits`, `held` to the credits set aside for unfinished jobs. */
    "get /account/ledger": {
        parameters: {
            query?: {
                limit?: number;
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
    /** What the account spent and earned, by day, Cargo and API key. By day, newest first; then by kind, Cargo and key. It has all charges and earnings of the ledger; days that ended more than 400 days ago are left out. A member that lines are not grouped by is null. */
    "get /account/usage": {
        parameters: {
            query?: {
                /** Id of a key */
                api_key?: string;
                /** Comma-separated list of day, workload, api_key; empty: only by kind */
                by?: string;
                /** First day (UTC); 30 days with the last one unless told */
                from?: string;
                kind?: "spent" | "earned";
                limit?: number;
                offset?: number;
                /** Last day, at most 366 days with the first one; today unless told */
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
                        /** Of all pages */
                        earned: number;
                        from: string;
                        limit: number;
                        offset: number;
                        /** Of all pages */
                        spent: number;
                        to: string;
                        total: number;
                    };
                };
            };
        };
    };
    /** What the operators tell everybody, newest first */
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
    /** Create an API key. An account has at most 50; another one is 422 too_many_keys. A revoked key counts for one more minute. A key with limits cannot make or change keys, and revokes only itself. */
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
    /** Change the name and the limits of an API key. Members that are left out stay; null removes a limit. It counts from the next request on. A key that gets credits_per_month has spent what its jobs cost since the month began. */
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
    /** Speak a text. In OpenAI's shape, by a Cargo that speaks. A long text is several jobs, one after the other, and each is sent as soon as it is spoken. Like a chat they wait for an Island and are cancelled when the client disconnects. When a later one fails, the connection is cut. */
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
    /** Write speech down. In OpenAI's shape, by a Cargo that writes speech down: one job. Like a chat it waits for an Island and is cancelled when the client disconnects. */
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
    /** Write speech down in English. In OpenAI's shape, by a Cargo that writes speech down: one job. Like a chat it waits for an Island and is cancelled when the client disconnects. */
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
    /** Confirm a new e-mail address with the token of a mail. A token works once, within an hour, and needs no session. The old address is told. */
    "post /auth/email": {
        requestBody: {
            "application/json": {
                /** ep_…, from the mail */
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
    /** Start a session. An account has at most 20 sessions; a new one ends the oldest. */
    "post /auth/login": {
        parameters: {
            header?: {
                /** The token comes as a cookie that no script can read, and not in the body. Only for pages of the coordinator itself */
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
    /** End the session of the token or cookie that you send */
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
    /** Get a password reset by e-mail. The answer is the same whether or not the address has an account. The mailed token is valid for an hour. 403 if this coordinator sends no e-mail: its operator can make a reset. */
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
    /** Set a new password with a reset token. A token works once. All sessions of the account end; API keys stay. */
    "post /auth/password/reset": {
        requestBody: {
            "application/json": {
                new: string;
                /** pr_…, from an e-mail or from the operator */
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
    /** Open an account. Where the operator wants proof of the address, the answer is 202, the same whether or not the address has an account. The mail brings a token for POST /auth/verify, which sets the password. */
    "post /auth/register": {
        parameters: {
            header?: {
                /** The token comes as a cookie that no script can read, and not in the body. Only for pages of the coordinator itself */
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
    /** Open an account with the token of a mail. A token works once, within an hour. */
    "post /auth/verify": {
        parameters: {
            header?: {
                /** The token comes as a cookie that no script can read, and not in the body. Only for pages of the coordinator itself */
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
    /** Which Cargos Islands can run now. Cargos that you can run and no Island can are left out: their jobs wait. At most 5 s old. Each coordinator counts at most 100 Islands of a Cargo. What one job waits for is in its detail. */
    "get /availability": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["AvailableCargo"][];
                    /** False: a coordinator did not answer; its Islands are missing */
                    is_complete: boolean;
                };
            };
        };
    };
    /** List batches over files, newest first */
    "get /batches": {
        parameters: {
            query?: {
                /** Id of the last batch of the page before */
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
    /** Answer every request of a JSONL file. As OpenAI's clients do. The file is checked in the background. Each line is a request of the endpoint and becomes its jobs, which wait for Islands as other batch jobs do; results are files. `POST /jobs/batch` submits jobs of one Cargo at once instead. */
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
    /** A batch over a file, and how far it is */
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
    /** Cancel a batch over a file. Lines that were answered stay in its files. One that has ended stays as it is. */
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
    /** List enabled and approved Cargos, by slug */
    "get /cargos": {
        parameters: {
            query?: {
                category?: "llm" | "image" | "audio" | "vision" | "text" | "utility";
                runtime_type?: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
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
    /** Create a Cargo of your own. Only you can see and run it until the operator approves it. catalog/README.md explains the fields; together they have at most 65,536 bytes as JSON. An account has at most 50 Cargos at a time and 1,000 slugs in total. */
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
    /** A Cargo with the schemas of its input and output. Public. Only a Cargo of your own that is not approved yet needs a credential. */
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
    /** Delete a Cargo of your own. Its waiting jobs fail and cost nothing; jobs that an Island has already continue. The slug stays yours. */
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
    /** Change a Cargo of your own. Fields that are left out stay as they are. A change of what runs, of the name or the description, a higher price or lower memory figures remove the approval. Accepted jobs run with the Cargo as it was. */
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
    /** Chat completion. A chat is a job: its id is the completion's id. It is cancelled when the client disconnects. With `n`, each answer is a job, one after the other, also on a stream; the first one's id is the completion's. */
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
    /** Continue a text, as OpenAI's legacy completions do. By a chat Cargo without its chat template, on Islands whose agent can do so. Each prompt is a job, four at once; the first one's id is the completion's. They are cancelled when the client disconnects. */
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
                limit?: number;
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
    /** A conversation with a page of its messages */
    "get /conversations/{id}": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** Order of the messages; asc: oldest first */
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
                    /** Of the messages */
                    meta: {
                        limit: number;
                        offset: number;
                        total: number;
                    };
                };
            };
        };
    };
    /** Delete a conversation with its messages. An answer in progress is cancelled. The jobs of its answers stay in the account's jobs, without their prompts and answers. */
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
    /** Send a message to a conversation and get the answer. Runs a chat job on the history, without its oldest messages if they do not fit the model. With `stream` the answer is one event `message`, which names the message and the job, then the job's events as in GET /jobs/{id}/stream; Last-Event-ID there resumes them. When the client disconnects, the job is cancelled and the delivered text stays as the answer. */
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
    /** This document as a web page */
    "get /docs": {
    };
    /** List the packages that the coordinator serves to hosts and clients, newest version first */
    "get /downloads": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Downloads"];
                };
            };
        };
    };
    /** Embeddings of texts, as OpenAI has them. One job for up to 256 texts. Like a chat it waits for an Island and is cancelled when the client disconnects. */
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
    /** Follow what changes: your jobs, your Islands, your balance. A stream of hints that does not end by itself. It begins with `reset`: read your lists now, what changes from here on is sent. Changes are gathered for an eighth of a second, Islands for up to a second; only the last state of what changed several times is sent. Nothing is sent again: a new connection begins with `reset`, and another `reset` comes wherever something may have been missed, or for a client that reads too slowly. All streams of events of an account count as one of its open streams; it may have 10 of them. An operator's session may ask for scope=network, which adds `overview`: the body of GET /operator/overview, at once and at most every 2 s, when it or the queue is another one. The stream ends when the account is no operator's any more. */
    "get /events": {
        parameters: {
            query?: {
                /** Adds the overview of the network, for operators */
                scope?: "network";
            };
        };
        responses: {
            200: {
                "text/event-stream": components["schemas"]["AccountEvent"];
            };
        };
    };
    /** List files. At most 1000 on a page, whatever `limit` says; `has_more` tells of further ones. */
    "get /files": {
        parameters: {
            query?: {
                /** Id of the last file of the page before */
                after?: string;
                limit?: number;
                /** By creation */
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
    /** Upload a file. As OpenAI's clients do. The whole request has to arrive within 60 s. A client that sends nothing for 30 s is cut. */
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
    /** Facts about a file */
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
    /** The content of a file. With Range, and an ETag that is the content's SHA-256. */
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
    /** Health and version */
    "get /health": {
        responses: {
            200: {
                "application/json": components["schemas"]["Health"];
            };
        };
    };
    /** Draw pictures from a text. In OpenAI's shape, by a Cargo that draws: one job for each picture, one after the other. Like a chat they wait for an Island and are cancelled when the client disconnects. */
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
    /** Forget an Island, for its agent. What `island leave` calls: as `DELETE /islands/{id}`, with the Island token in place of a key: `Authorization: Bearer it_…`. `removed` is false if the account has no such Island. The token stays valid for other Islands. */
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
    /** Create an Island token. Islands that join with it earn for the account. An account has at most 1,000; another one is 422 too_many_tokens. A revoked token counts for one more minute. */
    "post /island-tokens": {
        requestBody: {
            "application/json": components["schemas"]["CreateIslandToken"];
        };
        responses: {
            201: {
                "application/json": {
                    data: components["schemas"]["IslandToken"];
                    /** The secret, it_…; shown only here */
                    token: string;
                };
            };
        };
    };
    /** Revoke an Island token. The Islands that joined with it are sent away, and their jobs go to others. */
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
    /** Create a pairing code. For `island join <address> --code ABCD-EFGH`, so that no secret stands in a command. The code is valid for ten minutes and once, at every coordinator of the network. An account has at most 5 at a time; another one is 422 too_many_codes. */
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
    /** What an Island did and earned, for its agent. What `island status` and `island history` show. Needs the Island token in place of a key: `Authorization: Bearer it_…`. */
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
                        /** Of the latest jobs that earned something, newest first; at most 100 */
                        recent: {
                            /** Credits, with up to 6 decimals */
                            credits: number;
                            /** ISO 8601, UTC */
                            earned_at: string;
                            job_id: string;
                        }[];
                        tokens: number;
                        uptime: components["schemas"]["IslandUptime"];
                    };
                };
            };
        };
    };
    /** A file of a job, for the Island that runs it. `assign` has the whole address, signed for one attempt on one Island. Needs the token of its owner in place of a key: `Authorization: Bearer it_…`. With Range. */
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
    /** Exchange a pairing code for an Island token. What `island join --code` does. A code that is wrong, used or expired is 404. An address may try 10 codes a minute, all addresses together 300. */
    "post /island/pair": {
        requestBody: {
            "application/json": {
                /** In capital or small letters, with or without the dash */
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
                        /** The secret, it_…; shown only here */
                        token: string;
                    };
                };
            };
        };
    };
    /** Cargos that an Island should download, most wanted first */
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
    /** List your Islands: connected ones first, then by when they were last seen */
    "get /islands": {
        parameters: {
            query?: {
                limit?: number;
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
    /** Show an Island of yours */
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
    /** Remove an Island of yours. Its session ends, its jobs go to other Islands at once, and it is forgotten; what it earned stays. Its agent stops. It is refused from then on with the token that it has, and comes back, as a new Island, when it joins with a token or pairing code that is made after the removal. The token itself stays valid for other Islands: revoke it if nobody should use it. */
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
    /** Rename an Island of yours */
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
                /** Id of a batch; lists only its jobs */
                batch?: string;
                limit?: number;
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
    /** Submit a job. With an Idempotency-Key header, the same key and body within 24 h return the first job again. */
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
    /** Status, output and usage of a job. With `wait` the answer comes when the job has ended, or after that many seconds with the job as it is. */
    "get /jobs/{id}": {
        parameters: {
            query?: {
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
    /** Cancel a job that has not ended, or remove prompt and answer of one that has. A job that has ended answers `deleted`: input, output, stream and, in a conversation, question and answer are gone for good. Status, usage and charge stay. A client that only wants to cancel sends `if_ended=refuse`. */
    "delete /jobs/{id}": {
        parameters: {
            query?: {
                /** refuse: 422 job_not_cancellable for a job that has ended, which keeps its content */
                if_ended?: "delete" | "refuse";
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                "application/json": {
                    data: {
                        id: string;
                        status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout" | "deleted";
                    };
                };
            };
        };
    };
    /** Output of a job so far. Works while the job runs. Output from before a failure or cancellation stays readable. */
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
    /** Stream a job's output while it is produced. Last-Event-ID continues after the event with that id, without gap or repeat; a job that has ended replays. If a crash of the coordinator lost output that was delivered, the stream ends without `done` or `error`, and the id gets 422 position_lost: discard all earlier events and read the stream again without the id. */
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
    /** Submit up to 100 jobs of one Cargo. All or none: the jobs are stored and their prices held together. A job counts against the account's limit of unfinished jobs from its start, not while it waits. With an Idempotency-Key header, the same key and body within 24 h return the first batch again. */
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
    /** A batch with the state of each job. With `include=output` the jobs have their outputs, as many as one answer may hold; `next_output_offset` leads to those after them. */
    "get /jobs/batch/{id}": {
        parameters: {
            query?: {
                include?: "output";
                /** Place of the first job with its output */
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
    /** Cancel every job of a batch that has not ended. Jobs that have ended stay as they are. If all have ended: 422 job_not_cancellable. */
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
    /** A message, as Anthropic's API has it. A chat in the shape that Anthropic's clients speak, with an API key in `Authorization` or `X-Api-Key`. Also at `/v1/messages`. A message is a job: its id is the message's id. It is cancelled when the client disconnects. */
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
    /** Count the tokens of a message's prompt. Exact, with what the chat template adds: a chat job that makes one token on an Island, with the price of a chat. */
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
    /** Metrics for Prometheus. Totals only, nothing about a single account or Island. Needs the operator's `metrics_token` as Authorization: Bearer. Without this setting it is open to programs on the coordinator's own machine where no other can reach it, and off (404) elsewhere, through a proxy, and for pages of other sites in a browser. */
    "get /metrics": {
        responses: {
            200: {
                "text/plain": string;
            };
        };
    };
    /** List Cargos in the shape of OpenAI's models. Those that an endpoint of OpenAI's API serves and the caller can run, with its own that are not approved yet and the operator's aliases. For an API key with a list of Cargos: those of the list. `available`, `ready` and `free` are at most 5 s old. With the header `anthropic-version`: those that chat, in the shape of Anthropic's models, in pages by `limit` (1 to 1000, default 20), `after_id` and `before_id`; so is `GET /models/{id}`. */
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
    /** A Cargo, or an alias of one, in the shape of OpenAI's models */
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
    /** Classify texts by OpenAI's categories of harm. By a Cargo that classifies texts: one job for each text, a few at once. Like a chat they wait for an Island and are cancelled when the client disconnects. */
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
    /** The network as visitors see it, over all coordinators. Counts are at most 10 s old. */
    "get /network": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["Network"];
                };
            };
        };
    };
    /** This document */
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
                limit?: number;
                offset?: number;
                role?: "user" | "operator";
                /** Part of the e-mail address, or the whole id */
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
    /** Show an account with its limits. Its Islands: GET /operator/islands?account=…; its jobs: GET /operator/jobs?account=…. */
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
    /** Give an account credits, or take them back. Negative credits are taken back, at most what the account can spend, and need a note. The account sees the note in its ledger. With an Idempotency-Key header, the same operator, account, key and credits grant once, however often they are sent; another amount with the key is refused (422). Keys are remembered for good. Without one, a request that is repeated grants again. */
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
    /** Suspend an account. From now on its keys, sessions and Island tokens are refused with 403 account_suspended. Its streams end, its unfinished jobs are cancelled, and its Islands are sent away, at every coordinator within a second. An operator's account is not suspended (400). */
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
    /** End the suspension of an account. Its keys, sessions and Island tokens count again; its Islands come back within a minute. */
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
    /** Tell everybody something */
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
    /** List what operators did, by the API and by commands, newest first. Lines are never changed or removed. */
    "get /operator/audit": {
        parameters: {
            query?: {
                action?: string;
                actor?: string;
                limit?: number;
                offset?: number;
                /** Id of what was acted on */
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
    /** List all Cargos with their state, by slug */
    "get /operator/cargos": {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** waiting: those that wait for an approval */
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
    /** Everything that an approval of the Cargo would sign, as it is now */
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
    /** Change the price of a shipped Cargo. It counts for jobs that are submitted from now on, at every coordinator, and stays when the catalog is updated. Other Cargos have their price in their own definition (400). */
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
    /** Sign exactly the Cargo that was reviewed, and offer it to everybody. `revision` and the pin are those of the review; a Cargo that is another one by now is refused (400). Also switches a disabled one on. */
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
    /** Switch a Cargo off for everybody. Its waiting jobs fail; jobs that an Island has go on. */
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
    /** Undo that; approves nothing */
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
    /** The same, with the pin that an approval needs. A pin that is not given is asked of the image's registry or the model's hub. A host that does not respond within 2.5 s is named in the error. Changes nothing. */
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
    /** List the Islands of all accounts, last seen first */
    "get /operator/islands": {
        parameters: {
            query?: {
                /** Id of an account */
                account?: string;
                limit?: number;
                offset?: number;
                /** Beginning of the id, or part of a name */
                search?: string;
                /** online: seen within the last 150 s, so that one that has just left is still among them */
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
    /** Show an Island, as its owner sees it */
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
    /** Suspend an Island. Its session ends, with the reason, and its jobs go to other Islands at once. Its agent asks again once a minute, and gets no jobs until the suspension ends. A host id is chosen by its agent: suspend the account if its owner brings the machine back with another one. */
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
    /** List the jobs of all accounts, newest first. Looks through the network's latest 100,000 jobs, or with `account` alone through all of that account. */
    "get /operator/jobs": {
        parameters: {
            query?: {
                /** Id of an account */
                account?: string;
                /** Id of an Island */
                island?: string;
                limit?: number;
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
    /** The network at a glance, over all coordinators */
    "get /operator/overview": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["NetworkOverview"];
                };
            };
        };
    };
    /** Waiting jobs by Cargo and reason, over all coordinators; most jobs first */
    "get /operator/queue": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["QueueLine"][];
                    /** False: a coordinator did not answer */
                    is_complete: boolean;
                };
            };
        };
    };
    /** The settings in force at the coordinator that answers, without secrets */
    "get /operator/settings": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["SettingInForce"][];
                };
            };
        };
    };
    /** Rank documents by how near they are to a query. By a Cargo that ranks, or by the vectors of one for embeddings: one job for the query and all documents. Like a chat it waits for an Island and is cancelled when the client disconnects. Also at `/v2/rerank`, for Cohere's client. */
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
    /** A response, as OpenAI's API has it. A chat. A response is a job, which stores it: their ids have the same end (`resp_…`, `job_…`), and what is kept of jobs, and how long, holds for it. It is cancelled when the client disconnects, unless it is in the background. */
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
    /** A stored response */
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
    /** Remove the prompt and the answer of a response. One that goes on is cancelled first. */
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
    /** Cancel a response in the background */
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
    /** List the sessions of the account, newest first. Needs a session. An account has at most 20. */
    "get /sessions": {
        responses: {
            200: {
                "application/json": {
                    data: components["schemas"]["AccountSession"][];
                };
            };
        };
    };
    /** End a session at once. Needs a session. It may be the one that asks; then its cookie is cleared. */
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
