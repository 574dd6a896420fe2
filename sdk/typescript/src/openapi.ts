// Generated from the coordinator's OpenAPI document by `npm run sdk:types`. Not for editing.

export interface paths {
    "/api/v1/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The caller's account and credits */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        /**
         * Delete the account for good
         * @description Needs a session and the password. Unfinished jobs are cancelled; keys, sessions and Island tokens end at once; prompts, answers, conversations, Cargos and the e-mail address are removed. What credits are left go back to the network. For the books the account's id stays, with its entries of the ledger, and the facts of its jobs: times, Cargo, state, tokens and charge.
         */
        delete: operations["deleteAccount"];
        options?: never;
        head?: never;
        /**
         * Change the password or the e-mail address
         * @description Needs a session and the present password. With another password all other sessions end, and an address that waits for its proof is dropped; API keys stay. Where the coordinator sends mail, another address counts once the token that it is mailed is used (POST /auth/email, within an hour), and `pending_email` has it, the same whether or not another account has the address. Elsewhere it counts at once, and one that is taken is 422 email_taken.
         */
        patch: operations["changeAccount"];
        trace?: never;
    };
    "/api/v1/account/cargos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your own Cargos, by slug, with their approval */
        get: operations["listOwnCargos"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes of the account's credits, newest first
         * @description `amount` of all lines adds up to the account's `credits`, `held` to the credits set aside for unfinished jobs.
         */
        get: operations["listLedger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the password
         * @description Needs a session. All other sessions of the account end; API keys stay.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the account spent and earned, by day, Cargo and API key
         * @description By day, newest first; then by kind, Cargo and key. It has all charges and earnings of the ledger; days that ended more than 400 days ago are left out. A member that lines are not grouped by is null.
         */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/announcements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the operators tell everybody, newest first */
        get: operations["listAnnouncements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List API keys that are not revoked, newest first */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description An account has at most 50; another one is 422 too_many_keys. A revoked key counts for one more minute. A key with limits cannot make or change keys, and revokes only itself.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an API key at once */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        /**
         * Change the name and the limits of an API key
         * @description Members that are left out stay; null removes a limit. It counts from the next request on. A key that gets credits_per_month has spent what its jobs cost since the month began.
         */
        patch: operations["changeApiKey"];
        trace?: never;
    };
    "/api/v1/audio/speech": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Speak a text
         * @description In OpenAI's shape, by a Cargo that speaks. A long text is several jobs, one after the other, and each is sent as soon as it is spoken. Like a chat they wait for an Island and are cancelled when the client disconnects. When a later one fails, the connection is cut.
         */
        post: operations["createSpeech"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/transcriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write speech down
         * @description In OpenAI's shape, by a Cargo that writes speech down: one job. Like a chat it waits for an Island and is cancelled when the client disconnects.
         */
        post: operations["createTranscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audio/translations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write speech down in English
         * @description In OpenAI's shape, by a Cargo that writes speech down: one job. Like a chat it waits for an Island and is cancelled when the client disconnects.
         */
        post: operations["createTranslation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm a new e-mail address with the token of a mail
         * @description A token works once, within an hour, and needs no session. The old address is told.
         */
        post: operations["confirmEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a session
         * @description An account has at most 20 sessions; a new one ends the oldest.
         */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End the session of the token or cookie that you send */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/password/forgot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a password reset by e-mail
         * @description The answer is the same whether or not the address has an account. The mailed token is valid for an hour. 403 if this coordinator sends no e-mail: its operator can make a reset.
         */
        post: operations["requestPasswordReset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/password/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a new password with a reset token
         * @description A token works once. All sessions of the account end; API keys stay.
         */
        post: operations["resetPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open an account
         * @description Where the operator wants proof of the address, the answer is 202, the same whether or not the address has an account. The mail brings a token for POST /auth/verify, which sets the password.
         */
        post: operations["register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open an account with the token of a mail
         * @description A token works once, within an hour.
         */
        post: operations["verifyEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/availability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which Cargos Islands can run now
         * @description Cargos that you can run and no Island can are left out: their jobs wait. At most 5 s old. Each coordinator counts at most 100 Islands of a Cargo. What one job waits for is in its detail.
         */
        get: operations["listAvailability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List batches over files, newest first */
        get: operations["listFileBatches"];
        put?: never;
        /**
         * Answer every request of a JSONL file
         * @description As OpenAI's clients do. The file is checked in the background. Each line is a request of the endpoint and becomes its jobs, which wait for Islands as other batch jobs do; results are files. `POST /jobs/batch` submits jobs of one Cargo at once instead.
         */
        post: operations["createFileBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/batches/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A batch over a file, and how far it is */
        get: operations["getFileBatch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/batches/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a batch over a file
         * @description Lines that were answered stay in its files. One that has ended stays as it is.
         */
        post: operations["cancelFileBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cargos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List enabled and approved Cargos, by slug */
        get: operations["listCargos"];
        put?: never;
        /**
         * Create a Cargo of your own
         * @description Only you can see and run it until the operator approves it. catalog/README.md explains the fields; together they have at most 65,536 bytes as JSON. An account has at most 50 Cargos at a time and 1,000 slugs in total.
         */
        post: operations["createCargo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cargos/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A Cargo with the schemas of its input and output
         * @description Public. Only a Cargo of your own that is not approved yet needs a credential.
         */
        get: operations["getCargo"];
        put?: never;
        post?: never;
        /**
         * Delete a Cargo of your own
         * @description Its waiting jobs fail and cost nothing; jobs that an Island has already continue. The slug stays yours.
         */
        delete: operations["deleteCargo"];
        options?: never;
        head?: never;
        /**
         * Change a Cargo of your own
         * @description Fields that are left out stay as they are. A change of what runs, of the name or the description, a higher price or lower memory figures remove the approval. Accepted jobs run with the Cargo as it was.
         */
        patch: operations["changeCargo"];
        trace?: never;
    };
    "/api/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Chat completion
         * @description A chat is a job: its id is the completion's id. It is cancelled when the client disconnects. With `n`, each answer is a job, one after the other, also on a stream; the first one's id is the completion's.
         */
        post: operations["createChatCompletion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Continue a text, as OpenAI's legacy completions do
         * @description By a chat Cargo without its chat template, on Islands whose agent can do so. Each prompt is a job, four at once; the first one's id is the completion's. They are cancelled when the client disconnects.
         */
        post: operations["createCompletion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List conversations, newest first */
        get: operations["listConversations"];
        put?: never;
        /** Start a conversation */
        post: operations["createConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A conversation with a page of its messages */
        get: operations["getConversation"];
        put?: never;
        post?: never;
        /**
         * Delete a conversation with its messages
         * @description An answer in progress is cancelled. The jobs of its answers stay in the account's jobs, without their prompts and answers.
         */
        delete: operations["deleteConversation"];
        options?: never;
        head?: never;
        /** Change a conversation's title or metadata */
        patch: operations["updateConversation"];
        trace?: never;
    };
    "/api/v1/conversations/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message to a conversation and get the answer
         * @description Runs a chat job on the history, without its oldest messages if they do not fit the model. With `stream` the answer is one event `message`, which names the message and the job, then the job's events as in GET /jobs/{id}/stream; Last-Event-ID there resumes them. When the client disconnects, the job is cancelled and the delivered text stays as the answer.
         */
        post: operations["postMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document as a web page */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/downloads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the packages that the coordinator serves to hosts and clients, newest version first */
        get: operations["listDownloads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Embeddings of texts, as OpenAI has them
         * @description One job for up to 256 texts. Like a chat it waits for an Island and is cancelled when the client disconnects.
         */
        post: operations["createEmbeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Hear what changes: your jobs, your Islands, your balance
         * @description A stream that does not end by itself. It begins with `ready`, or, for a Last-Event-ID that is not known any more, with `reset`; both mean: what changes from here on is told. Changes are gathered for an eighth of a second, Islands for up to a second, and of what changed several times the last state is told; an event may come again after a reconnect. Last-Event-ID continues after the event with that id, for a minute after the connection was lost, at any coordinator of the network. All streams of events of an account count as one of its open streams; it may have 10 of them. An operator's session may ask for scope=network, which adds `overview`: the body of GET /operator/overview, at once and at most every 2 s, when it or the queue is another one. The stream ends when the account is no operator's any more.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List files
         * @description At most 1000 on a page, whatever `limit` says; `has_more` tells of further ones.
         */
        get: operations["listFiles"];
        put?: never;
        /**
         * Upload a file
         * @description As OpenAI's clients do. The whole request has to arrive within 60 s: larger files go in parts. A client that sends nothing for 30 s is cut.
         */
        post: operations["uploadFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Facts about a file */
        get: operations["getFile"];
        put?: never;
        post?: never;
        /** Delete a file */
        delete: operations["deleteFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The content of a file
         * @description With Range, and an ETag that is the content's SHA-256.
         */
        get: operations["getFileContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Health and version */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/images/generations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Draw pictures from a text
         * @description In OpenAI's shape, by a Cargo that draws: one job for each picture, one after the other. Like a chat they wait for an Island and are cancelled when the client disconnects.
         */
        post: operations["createImages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/island": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Forget an Island, for its agent
         * @description What `island leave` calls: as `DELETE /islands/{id}`, with the Island token in place of a key: `Authorization: Bearer it_…`. `removed` is false if the account has no such Island. The token stays valid for other Islands.
         */
        delete: operations["leaveIsland"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/island-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List Island tokens that are not revoked, newest first */
        get: operations["listIslandTokens"];
        put?: never;
        /**
         * Create an Island token
         * @description Islands that join with it earn for the account. An account has at most 1,000; another one is 422 too_many_tokens. A revoked token counts for one more minute.
         */
        post: operations["createIslandToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/island-tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an Island token
         * @description The Islands that joined with it are sent away, and their jobs go to others.
         */
        delete: operations["revokeIslandToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/island-tokens/pairing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a pairing code
         * @description For `island join <address> --code ABCD-EFGH`, so that no secret stands in a command. The code is valid for ten minutes and once, at every coordinator of the network. An account has at most 5 at a time; another one is 422 too_many_codes.
         */
        post: operations["createPairingCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/island/earnings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What an Island did and earned, for its agent
         * @description What `island status` and `island history` show. Needs the Island token in place of a key: `Authorization: Bearer it_…`.
         */
        get: operations["getIslandEarnings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/island/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A file of a job, for the Island that runs it
         * @description `assign` has the whole address, signed for one attempt on one Island. Needs the token of its owner in place of a key: `Authorization: Bearer it_…`. With Range.
         */
        get: operations["getIslandFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/island/pair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a pairing code for an Island token
         * @description What `island join --code` does. A code that is wrong, used or expired is 404. An address may try 10 codes a minute, all addresses together 300.
         */
        post: operations["pairIsland"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/island/recommendations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Cargos that an Island should download, most wanted first */
        get: operations["recommendCargos"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/islands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your Islands: connected ones first, then by when they were last seen */
        get: operations["listIslands"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/islands/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an Island of yours */
        get: operations["getIsland"];
        put?: never;
        post?: never;
        /**
         * Remove an Island of yours
         * @description Its session ends, its jobs go to other Islands at once, and it is forgotten; what it earned stays. Its agent stops. It is refused from then on with the token that it has, and comes back, as a new Island, when it joins with a token or pairing code that is made after the removal. The token itself stays valid for other Islands: revoke it if nobody should use it.
         */
        delete: operations["removeIsland"];
        options?: never;
        head?: never;
        /** Rename an Island of yours */
        patch: operations["renameIsland"];
        trace?: never;
    };
    "/api/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List jobs, newest first */
        get: operations["listJobs"];
        put?: never;
        /**
         * Submit a job
         * @description With an Idempotency-Key header, the same key and body within 24 h return the first job again.
         */
        post: operations["submitJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status, output and usage of a job
         * @description With `wait` the answer comes when the job has ended, or after that many seconds with the job as it is.
         */
        get: operations["getJob"];
        put?: never;
        post?: never;
        /**
         * Cancel a job that has not ended, or remove prompt and answer of one that has
         * @description A job that has ended answers `deleted`: input, output, stream and, in a conversation, question and answer are gone for good. Status, usage and charge stay. A client that only wants to cancel sends `if_ended=refuse`.
         */
        delete: operations["cancelJob"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Output of a job so far
         * @description Works while the job runs. Output from before a failure or cancellation stays readable.
         */
        get: operations["getJobOutput"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream a job's output while it is produced
         * @description Last-Event-ID continues after the event with that id, without gap or repeat; a job that has ended replays. If a crash of the coordinator lost output that was delivered, the stream ends without `done` or `error`, and the id gets 422 position_lost: discard all earlier events and read the stream again without the id.
         */
        get: operations["streamJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Submit up to 100 jobs of one Cargo
         * @description All or none: the jobs are stored and their prices held together. A job counts against the account's limit of unfinished jobs from its start, not while it waits. With an Idempotency-Key header, the same key and body within 24 h return the first batch again.
         */
        post: operations["submitBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/batch/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A batch with the state of each job
         * @description With `include=output` the jobs have their outputs, as many as one answer may hold; `next_output_offset` leads to those after them.
         */
        get: operations["getBatch"];
        put?: never;
        post?: never;
        /**
         * Cancel every job of a batch that has not ended
         * @description Jobs that have ended stay as they are. If all have ended: 422 job_not_cancellable.
         */
        delete: operations["cancelBatch"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A message, as Anthropic's API has it
         * @description A chat in the shape that Anthropic's clients speak, with an API key in `Authorization` or `X-Api-Key`. Also at `/v1/messages`. A message is a job: its id is the message's id. It is cancelled when the client disconnects.
         */
        post: operations["createMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/count_tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Count the tokens of a message's prompt
         * @description Exact, with what the chat template adds: a chat job that makes one token on an Island, with the price of a chat.
         */
        post: operations["countMessageTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics for Prometheus
         * @description Totals only, nothing about a single account or Island. Needs the operator's `metrics_token` as Authorization: Bearer. Without this setting it is open to programs on the coordinator's own machine where no other can reach it, and off (404) elsewhere, through a proxy, and for pages of other sites in a browser.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Cargos in the shape of OpenAI's models
         * @description Those that an endpoint of OpenAI's API serves and the caller can run, with its own that are not approved yet and the operator's aliases. For an API key with a list of Cargos: those of the list. `available`, `ready` and `free` are at most 5 s old. With the header `anthropic-version`: those that chat, in the shape of Anthropic's models, in pages by `limit` (1 to 1000, default 20), `after_id` and `before_id`; so is `GET /models/{id}`.
         */
        get: operations["listModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A Cargo, or an alias of one, in the shape of OpenAI's models */
        get: operations["getModel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/moderations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Classify texts by OpenAI's categories of harm
         * @description By a Cargo that classifies texts: one job for each text, a few at once. Like a chat they wait for an Island and are cancelled when the client disconnects.
         */
        post: operations["createModeration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/network": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The network as visitors see it, over all coordinators
         * @description Counts are at most 10 s old.
         */
        get: operations["getNetwork"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List accounts, newest first */
        get: operations["listAccounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show an account with its limits
         * @description Its Islands: GET /operator/islands?account=…; its jobs: GET /operator/jobs?account=….
         */
        get: operations["getKnownAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/accounts/{id}/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give an account credits, or take them back
         * @description Negative credits are taken back, at most what the account can spend, and need a note. The account sees the note in its ledger. With an Idempotency-Key header, the same operator, account, key and credits grant once, however often they are sent; another amount with the key is refused (422). Keys are remembered for good. Without one, a request that is repeated grants again.
         */
        post: operations["grantCredits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/accounts/{id}/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change limits of an account */
        patch: operations["setAccountLimits"];
        trace?: never;
    };
    "/api/v1/operator/accounts/{id}/suspension": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suspend an account
         * @description From now on its keys, sessions and Island tokens are refused with 403 account_suspended. Its streams end, its unfinished jobs are cancelled, and its Islands are sent away, at every coordinator within a second. An operator's account is not suspended (400).
         */
        post: operations["suspendAccount"];
        /**
         * End the suspension of an account
         * @description Its keys, sessions and Island tokens count again; its Islands come back within a minute.
         */
        delete: operations["reinstateAccount"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/announcements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tell everybody something */
        post: operations["addAnnouncement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/announcements/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove an announcement */
        delete: operations["removeAnnouncement"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what operators did, by the API and by commands, newest first
         * @description Lines are never changed or removed.
         */
        get: operations["listAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/cargos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List all Cargos with their state, by slug */
        get: operations["listNetworkCargos"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/cargos/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Everything that an approval of the Cargo would sign, as it is now */
        get: operations["getCargoReview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the price of a shipped Cargo
         * @description It counts for jobs that are submitted from now on, at every coordinator, and stays when the catalog is updated. Other Cargos have their price in their own definition (400).
         */
        patch: operations["setCargoPrice"];
        trace?: never;
    };
    "/api/v1/operator/cargos/{slug}/approval": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign exactly the Cargo that was reviewed, and offer it to everybody
         * @description `revision` and the pin are those of the review; a Cargo that is another one by now is refused (400). Also switches a disabled one on.
         */
        post: operations["approveCargo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/cargos/{slug}/disabled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Switch a Cargo off for everybody
         * @description Its waiting jobs fail; jobs that an Island has go on.
         */
        post: operations["disableCargo"];
        /** Undo that; approves nothing */
        delete: operations["enableCargo"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/cargos/{slug}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The same, with the pin that an approval needs
         * @description A pin that is not given is asked of the image's registry or the model's hub. A host that does not respond within 2.5 s is named in the error. Changes nothing.
         */
        post: operations["reviewCargo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/islands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the Islands of all accounts, last seen first */
        get: operations["listNetworkIslands"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/islands/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an Island, as its owner sees it */
        get: operations["getNetworkIsland"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/islands/{id}/suspension": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suspend an Island
         * @description Its session ends, with the reason, and its jobs go to other Islands at once. Its agent asks again once a minute, and gets no jobs until the suspension ends. A host id is chosen by its agent: suspend the account if its owner brings the machine back with another one.
         */
        post: operations["suspendIsland"];
        /** End the suspension of an Island */
        delete: operations["reinstateIsland"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the jobs of all accounts, newest first
         * @description Looks through the network's latest 100,000 jobs, or with `account` alone through all of that account.
         */
        get: operations["listNetworkJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The network at a glance, over all coordinators */
        get: operations["getNetworkOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Waiting jobs by Cargo and reason, over all coordinators; most jobs first */
        get: operations["getNetworkQueue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operator/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The settings in force at the coordinator that answers, without secrets */
        get: operations["listSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rerank": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rank documents by how near they are to a query
         * @description By a Cargo that ranks, or by the vectors of one for embeddings: one job for the query and all documents. Like a chat it waits for an Island and is cancelled when the client disconnects. Also at `/v2/rerank`, for Cohere's client.
         */
        post: operations["createReranking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/responses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A response, as OpenAI's API has it
         * @description A chat. A response is a job, which stores it: their ids have the same end (`resp_…`, `job_…`), and what is kept of jobs, and how long, holds for it. It is cancelled when the client disconnects, unless it is in the background.
         */
        post: operations["createResponse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/responses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A stored response */
        get: operations["getResponse"];
        put?: never;
        post?: never;
        /**
         * Remove the prompt and the answer of a response
         * @description One that goes on is cancelled first.
         */
        delete: operations["deleteResponse"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/responses/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a response in the background */
        post: operations["cancelResponse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sessions of the account, newest first
         * @description Needs a session. An account has at most 20.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a session at once
         * @description Needs a session. It may be the one that asks; then its cookie is cleared.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "batch-finished": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Every job of a batch with a webhook_url has ended
         * @description Signed as Standard Webhooks say. Delivered at least once: a repeat has the same webhook-id. Retried for a day, until the receiver answers 2xx, or 410 to stop.
         */
        post: operations["batchFinished"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "job-ended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A job with a webhook_url has ended
         * @description Signed as Standard Webhooks say. Delivered at least once: a repeat has the same webhook-id. Retried for a day, until the receiver answers 2xx, or 410 to stop.
         */
        post: operations["jobEnded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        Account: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Credits, with up to 6 decimals */
            credits: number;
            email: string;
            id: string;
            /** @enum {string} */
            role: "user" | "operator";
        };
        /** @description Its address, role or limits, its API keys, sessions or Island tokens changed: `data` of GET /account. Read again what you show of them */
        AccountChangedEvent: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Credits, with up to 6 decimals */
            credits: number;
            email: string;
            id: string;
            /** @enum {string} */
            role: "user" | "operator";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "account";
        };
        /** @description What changed; `type` is the name of the event */
        AccountEvent: components["schemas"]["ReadyEvent"] | components["schemas"]["ResetEvent"] | components["schemas"]["JobChangedEvent"] | components["schemas"]["IslandChangedEvent"] | components["schemas"]["IslandRemovedEvent"] | components["schemas"]["BalanceEvent"] | components["schemas"]["AccountChangedEvent"] | components["schemas"]["OverviewEvent"];
        AccountLimits: {
            concurrent_jobs: number;
            concurrent_streams: number;
            requests_per_minute: number;
            /** @description Weight in the fair share of slot time */
            share: number;
        };
        AccountSession: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description The session that asks */
            current: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at: string;
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC; up to a minute old. Null: never
             */
            last_used_at: string | null;
        };
        AddAnnouncement: {
            /**
             * @default info
             * @enum {string}
             */
            level?: "info" | "warning";
            text: string;
            /**
             * Format: date-time
             * @description Left out or null: until it is removed
             */
            until?: string | null;
        };
        Announcement: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            id: string;
            /** @enum {string} */
            level: "info" | "warning";
            /** @description Plain text */
            text: string;
            /**
             * Format: date-time
             * @description Null: until it is removed
             */
            until: string | null;
        };
        AnsweredMessage: {
            job_id: string;
            message: components["schemas"]["Message"];
            usage: components["schemas"]["Usage"];
            user_message: components["schemas"]["Message"];
        };
        AnthropicError400: {
            error: {
                /** @enum {string} */
                code: "invalid_json" | "bad_request";
                message: string;
                /** @enum {string} */
                type: "invalid_request_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError401: {
            error: {
                /** @enum {string} */
                code: "unauthenticated" | "key_expired";
                message: string;
                /** @enum {string} */
                type: "authentication_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError402: {
            error: {
                /** @description What the account may spend */
                balance_credits?: number;
                /** @enum {string} */
                code: "insufficient_credits" | "key_credits_exceeded";
                message: string;
                /** @description Of key_credits_exceeded: what the API key may still spend in this month */
                remaining_credits?: number;
                /**
                 * Format: date-time
                 * @description Of key_credits_exceeded: when the next month of the API key begins
                 */
                renews_at?: string;
                /** @description What the jobs of the request cost together */
                required_credits?: number;
                /** @enum {string} */
                type: "billing_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError403: {
            error: {
                /** @enum {string} */
                code: "insufficient_scope" | "cargo_not_allowed" | "operator_only" | "account_suspended";
                message: string;
                /** @enum {string} */
                type: "permission_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError404: {
            error: {
                /** @enum {string} */
                code: "not_found" | "model_not_found";
                message: string;
                /** @enum {string} */
                type: "not_found_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError409: {
            error: {
                /** @enum {string} */
                code: "job_failed";
                /** @description Of a job that failed: the job's error.code */
                job_error?: string;
                message: string;
                /** @description Of a job that failed: a new try may succeed */
                retryable?: boolean;
                /** @enum {string} */
                type: "invalid_request_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError410: {
            error: {
                /** @enum {string} */
                code: "content_removed";
                message: string;
                /** @enum {string} */
                type: "invalid_request_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError413: {
            error: {
                /** @enum {string} */
                code: "payload_too_large" | "file_budget_exceeded";
                message: string;
                /** @enum {string} */
                type: "request_too_large";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError422: {
            error: {
                /** @enum {string} */
                code: "validation_failed" | "email_taken" | "slug_taken" | "too_many_keys" | "too_many_tokens" | "too_many_codes" | "too_many_cargos" | "job_not_cancellable" | "idempotency_conflict" | "context_length_exceeded" | "conversation_busy" | "file_in_use" | "position_lost";
                details?: {
                    message: string;
                    /** @description Dotted path ("messages.0.role"); empty for the whole body */
                    path: string;
                }[];
                message: string;
                /** @enum {string} */
                type: "invalid_request_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError429: {
            error: {
                /** @enum {string} */
                code: "rate_limited";
                /** @enum {string} */
                limit: "requests_per_minute" | "concurrent_jobs" | "concurrent_streams" | "login_attempts" | "pairing_attempts" | "island_sessions" | "daily_storage";
                message: string;
                /** @description Seconds, the same as Retry-After */
                retry_after: number;
                /** @enum {string} */
                type: "rate_limit_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError500: {
            error: {
                /** @enum {string} */
                code: "internal" | "job_failed";
                /** @description Of a job that failed: the job's error.code */
                job_error?: string;
                message: string;
                /** @description Of an internal error: its id in the log, for the operator */
                request_id?: string;
                /** @description Of a job that failed: a new try may succeed */
                retryable?: boolean;
                /** @enum {string} */
                type: "api_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError503: {
            error: {
                /** @enum {string} */
                code: "no_island_available" | "overloaded" | "shutting_down" | "storage_unavailable" | "cluster_unavailable" | "job_failed";
                /** @description Of a job that failed: the job's error.code */
                job_error?: string;
                message: string;
                /** @description Seconds, the same as Retry-After */
                retry_after?: number;
                /** @description Of a job that failed: a new try may succeed */
                retryable?: boolean;
                /** @enum {string} */
                type: "overloaded_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicError507: {
            error: {
                /** @enum {string} */
                code: "disk_full";
                message: string;
                /** @enum {string} */
                type: "api_error";
            };
            request_id: string;
            /** @enum {string} */
            type: "error";
        };
        AnthropicMessage: {
            content: ({
                /** @description Empty: nothing is signed */
                signature: string;
                thinking: string;
                /** @enum {string} */
                type: "thinking";
            } | {
                text: string;
                /** @enum {string} */
                type: "text";
            } | {
                id: string;
                input: {
                    [key: string]: unknown;
                };
                name: string;
                /** @enum {string} */
                type: "tool_use";
            })[];
            id: string;
            model: string;
            /** @enum {string} */
            role: "assistant";
            /**
             * @description `end_turn` also for an answer that a stop sequence ended on an Island that does not say which
             * @enum {string|null}
             */
            stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | null;
            stop_sequence: string | null;
            /** @enum {string} */
            type: "message";
            usage: {
                cache_creation_input_tokens: null;
                cache_read_input_tokens: null;
                /** @description Credits that were charged; absent in `message_start` */
                cost?: number;
                input_tokens: number;
                output_tokens: number;
            };
        };
        AnthropicMessageEvent: {
            message: components["schemas"]["AnthropicMessage"];
            /** @enum {string} */
            type: "message_start";
        } | {
            /** @enum {string} */
            type: "ping";
        } | {
            content_block: {
                /** @description Empty: nothing is signed */
                signature: string;
                thinking: string;
                /** @enum {string} */
                type: "thinking";
            } | {
                text: string;
                /** @enum {string} */
                type: "text";
            } | {
                id: string;
                input: {
                    [key: string]: unknown;
                };
                name: string;
                /** @enum {string} */
                type: "tool_use";
            };
            index: number;
            /** @enum {string} */
            type: "content_block_start";
        } | {
            delta: {
                text: string;
                /** @enum {string} */
                type: "text_delta";
            } | {
                thinking: string;
                /** @enum {string} */
                type: "thinking_delta";
            } | {
                signature: string;
                /** @enum {string} */
                type: "signature_delta";
            } | {
                partial_json: string;
                /** @enum {string} */
                type: "input_json_delta";
            };
            index: number;
            /** @enum {string} */
            type: "content_block_delta";
        } | {
            index: number;
            /** @enum {string} */
            type: "content_block_stop";
        } | {
            delta: {
                /** @enum {string} */
                stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use";
                stop_sequence: string | null;
            };
            /** @enum {string} */
            type: "message_delta";
            usage: {
                cache_creation_input_tokens: null;
                cache_read_input_tokens: null;
                /** @description Credits that were charged; absent in `message_start` */
                cost?: number;
                input_tokens: number;
                output_tokens: number;
            };
        } | {
            /** @enum {string} */
            type: "message_stop";
        } | {
            error: {
                code: string;
                message: string;
                retryable: boolean;
                type: string;
            };
            /** @enum {string} */
            type: "error";
        };
        ApiKey: {
            cargos: string[] | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Credits, with up to 6 decimals */
            credits_per_month: number | null;
            /** @description What a key with credits_per_month has spent of it; null for others */
            credits_this_month: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at: string | null;
            id: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_used_at: string | null;
            name: string;
            prefix: string;
            scopes: ("read" | "write")[];
        };
        ApproveCargo: {
            /** @description sha256:… of the image's manifest */
            image_digest?: string;
            /** @description Commit of the model's folder on the hub */
            model_commit?: string;
            /** @description SHA-256 of the model's file or files.json, in hex */
            model_hash?: string;
            revision: string;
        };
        AuditLine: {
            /** @description With `.failed` for one that was refused */
            action: string;
            /** @description The operator's account; of a command the user of the operating system */
            actor: string;
            /** @description Null for a command, and for an account that was deleted */
            actor_email: string | null;
            /** @description JSON, or null */
            after?: unknown;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            /** @description JSON, or null */
            before?: unknown;
            /** @description Increases with time */
            id: number;
            /** @description The client's address; of a command the machine's name */
            origin: string;
            target: {
                id: string;
                /** @enum {string} */
                kind: "account" | "announcement" | "cargo" | "coordinator" | "island";
            };
            /** @enum {string} */
            via: "api" | "command";
        };
        AvailableCargo: {
            /** @description Those with a free slot */
            free: number;
            /** @description Connected Islands that may run it */
            islands: number;
            /** @description Those that have its model or image, or need none */
            ready: number;
            slug: string;
        };
        /** @description `credits` of GET /account */
        BalanceEvent: {
            /** @description Credits, with up to 6 decimals */
            balance: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "balance";
        };
        Batch: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completed_at: string | null;
            counts: components["schemas"]["BatchCounts"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @enum {string} */
            fail_mode: "best_effort" | "fail_fast";
            /** @example batch_01JGFJJZ00000000000000000 */
            id: string;
            /** @description In the order of the inputs */
            jobs: components["schemas"]["BatchJob"][];
            /** @description Only with `include=output`: `output_offset` of the next request, as the outputs of one answer are bounded; null: there are no more */
            next_output_offset?: number | null;
            priority: number;
            /**
             * @description pending: no job has started. failed: all jobs have ended, at least one failed or timed out
             * @enum {string}
             */
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
            /** @description With `output`: why the job failed or timed out */
            error?: {
                /** @enum {string} */
                code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
                message: string;
                retryable: boolean;
            } | null;
            id: string;
            /** @description Only with `include=output`, from job `output_offset` on. Null for a job that is not completed, or whose output was removed or omitted */
            output?: unknown;
            /**
             * @description The output has more than 65536 characters as JSON: read it from GET /jobs/{id}
             * @enum {boolean}
             */
            output_omitted?: true;
            /** @enum {string} */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
        };
        BatchWebhook: {
            data: {
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                completed_at: string | null;
                counts: components["schemas"]["BatchCounts"];
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                created_at: string;
                /** @enum {string} */
                fail_mode: "best_effort" | "fail_fast";
                /** @example batch_01JGFJJZ00000000000000000 */
                id: string;
                /** @description In the order of the inputs */
                jobs: components["schemas"]["BatchJob"][];
                /** @description Only with `include=output`: `output_offset` of the next request, as the outputs of one answer are bounded; null: there are no more */
                next_output_offset?: number | null;
                priority: number;
                /**
                 * @description pending: no job has started. failed: all jobs have ended, at least one failed or timed out
                 * @enum {string}
                 */
                status: "pending" | "running" | "completed" | "failed" | "cancelled";
                workload_id: number;
                workload_slug: string;
            };
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            /** @enum {string} */
            type: "batch.finished";
        };
        Cargo: {
            /** @enum {string} */
            category: "llm" | "image" | "audio" | "vision" | "text" | "utility";
            /** @description Can be the `model` of a chat completion */
            chat: boolean;
            context_tokens: number | null;
            description: string;
            licence: string;
            /** @description Of the model's file, in hexadecimal; null: the Cargo has none, has a folder of files, or names no hash */
            model_sha256: string | null;
            name: string;
            onnx_task_type: string | null;
            /** @description Credits, with up to 6 decimals */
            price_per_job: number;
            required_ram_mb: number;
            required_vram_mb: number;
            /** @enum {string} */
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            slug: string;
        };
        CargoApproval: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            at: string;
            /** @description Account of an operator, or user of the operating system */
            by: string;
            revision: string;
        };
        CargoDetail: {
            /** @description Limit of this phase of an attempt; null: the coordinator's setting */
            accept_limit_s: number | null;
            /** @description By the operator. Until then only its owner sees and runs it */
            approved: boolean;
            /** @enum {string} */
            category: "llm" | "image" | "audio" | "vision" | "text" | "utility";
            /** @description Can be the `model` of a chat completion */
            chat: boolean;
            context_tokens: number | null;
            description: string;
            example_input: {
                [key: string]: unknown;
            };
            /** @description Limit of this phase of an attempt; null: the coordinator's setting */
            first_output_limit_s: number | null;
            /** @description JSON Schema of a job's input */
            input_schema: {
                [key: string]: unknown;
            };
            licence: string;
            /** @description Of the model's file, in hexadecimal; null: the Cargo has none, has a folder of files, or names no hash */
            model_sha256: string | null;
            name: string;
            onnx_task_type: string | null;
            /** @description JSON Schema of a job's output; {} allows any JSON value */
            output_schema: {
                [key: string]: unknown;
            };
            /** @description Credits, with up to 6 decimals */
            price_per_job: number;
            required_ram_mb: number;
            required_vram_mb: number;
            run_limit_s: number;
            /** @enum {string} */
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            /** @description Limit of this phase of an attempt; null: the coordinator's setting */
            silence_limit_s: number | null;
            slug: string;
            /** @description Limit of this phase of an attempt; null: the coordinator's setting */
            start_limit_s: number | null;
            /** @description What it does, by the model hub's names, as feature-extraction or text-ranking; null: it chats, or its schemas say it */
            task: string | null;
            wait_limit_s: number;
            workload_id: number;
        };
        CargoPin: {
            /** @enum {string} */
            kind: "image_digest" | "model_hash" | "model_commit";
            value: string | null;
        };
        CargoPins: {
            /** @description sha256:… of the image's manifest */
            image_digest?: string;
            /** @description Commit of the model's folder on the hub */
            model_commit?: string;
            /** @description SHA-256 of the model's file or files.json, in hex */
            model_hash?: string;
        };
        CargoReview: {
            /** @description The last one, of this definition or an earlier one */
            approval: components["schemas"]["CargoApproval"] | null;
            /** @description The whole definition; see catalog/README.md */
            cargo: {
                [key: string]: unknown;
            };
            description: string;
            name: string;
            /** @enum {string} */
            origin: "shipped" | "imported" | "owned";
            owner_email: string | null;
            owner_id: string | null;
            /** @description What ties it to exact bytes; a null value: nothing does yet. Null: it fetches nothing */
            pin: components["schemas"]["CargoPin"] | null;
            /** @description In force for new jobs */
            price_per_job: number;
            /** @description Hash of all of `cargo`; an approval names it */
            revision: string;
            /** @description That of its file; null unless it is shipped */
            shipped_price_per_job: number | null;
            signs: components["schemas"]["SignedCargo"];
            slug: string;
            /** @enum {string} */
            status: "offered" | "waiting" | "unpinned" | "off" | "disabled" | "hidden";
        };
        ChangeAccount: {
            current_password: string;
            email?: string;
            password?: string;
        };
        ChangeApiKey: {
            /** @description Slugs of the Cargos that it may run, others are 403 cargo_not_allowed; null: all */
            cargos?: string[] | null;
            /** @description What its jobs may cost in a calendar month (UTC): charged, or held while they are unfinished. More is 402 key_credits_exceeded; null: any amount */
            credits_per_month?: number | null;
            /**
             * Format: date-time
             * @description The key is refused from then on (401 key_expired); null: never
             */
            expires_at?: string | null;
            name?: string;
        };
        ChangeCargo: {
            accept_limit_s?: number | null;
            adapters?: {
                /** @default 1 */
                scale?: number;
                sha256: string;
                /** @default null */
                size_bytes?: number | null;
                url: string;
            }[] | null;
            args?: string[] | null;
            /** @enum {string} */
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
            /** @description At most 16384 bytes as JSON */
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
            /** @enum {string} */
            runtime_type?: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            silence_limit_s?: number | null;
            start_limit_s?: number | null;
            /** @enum {string|null} */
            task?: "feature-extraction" | "text-ranking" | null;
            /** @enum {string|null} */
            tools?: "template" | "grammar" | null;
            wait_limit_s?: number | null;
            /** @enum {string|null} */
            weights?: "fp32" | "fp16" | "int8" | "uint8" | "q8" | "q4" | "q4f16" | "bnb4" | null;
        };
        ChatCompletion: {
            choices: {
                /** @enum {string} */
                finish_reason: "stop" | "length" | "tool_calls";
                index: number;
                logprobs: {
                    content: {
                        bytes: number[] | null;
                        /** @description Natural logarithm, before temperature, penalties and grammars */
                        logprob: number;
                        token: string;
                        top_logprobs: {
                            bytes: number[] | null;
                            /** @description Natural logarithm, before temperature, penalties and grammars */
                            logprob: number;
                            token: string;
                        }[];
                    }[];
                    refusal: null;
                } | null;
                message: {
                    /** @description Null for an answer of calls alone */
                    content: string | null;
                    /** @description Thoughts of a model that thinks */
                    reasoning_content?: string;
                    /** @enum {string} */
                    role: "assistant";
                    tool_calls?: {
                        function: {
                            arguments: string;
                            name: string;
                        };
                        id: string;
                        /** @enum {string} */
                        type: "function";
                    }[];
                };
            }[];
            created: number;
            id: string;
            model: string;
            /** @enum {string} */
            object: "chat.completion";
            usage: {
                completion_tokens: number;
                /** @description Of answers with thoughts, whose tokens are among completion_tokens */
                completion_tokens_details?: {
                    reasoning_tokens: number;
                };
                /** @description Credits that were charged, with up to 6 decimals */
                cost: number;
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        ChatCompletionChunk: {
            /** @description Empty in the chunk that carries `usage` */
            choices: {
                delta: {
                    content?: string;
                    reasoning_content?: string;
                    /** @enum {string} */
                    role?: "assistant";
                    tool_calls?: {
                        function: {
                            arguments: string;
                            name?: string;
                        };
                        id?: string;
                        index: number;
                        /** @enum {string} */
                        type?: "function";
                    }[];
                };
                /** @enum {string|null} */
                finish_reason: "stop" | "length" | "tool_calls" | null;
                index: number;
                logprobs: {
                    content: {
                        bytes: number[] | null;
                        /** @description Natural logarithm, before temperature, penalties and grammars */
                        logprob: number;
                        token: string;
                        top_logprobs: {
                            bytes: number[] | null;
                            /** @description Natural logarithm, before temperature, penalties and grammars */
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
            /** @enum {string} */
            object: "chat.completion.chunk";
            usage?: {
                completion_tokens: number;
                /** @description Of answers with thoughts, whose tokens are among completion_tokens */
                completion_tokens_details?: {
                    reasoning_tokens: number;
                };
                /** @description Credits that were charged, with up to 6 decimals */
                cost: number;
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        /** @description The job failed after output began; no [DONE] follows */
        ChatCompletionError: {
            error: {
                code: string;
                message: string;
                param: null;
                /** @description A new try may succeed */
                retryable: boolean;
                /** @enum {string} */
                type: "server_error" | "invalid_request_error";
            };
        };
        ChatCompletionEvent: components["schemas"]["ChatCompletionChunk"] | components["schemas"]["ChatCompletionError"] | "[DONE]";
        ChatCompletionRequest: {
            frequency_penalty?: number | null;
            logit_bias?: {
                [key: string]: number;
            } | null;
            logprobs?: boolean | null;
            max_completion_tokens?: number | null;
            max_tokens?: number | null;
            messages: {
                content?: string | {
                    text: string;
                    /** @enum {string} */
                    type: "text";
                }[] | null;
                /** @enum {string} */
                role: "system" | "user" | "assistant" | "tool" | "developer";
                tool_call_id?: string | null;
                tool_calls?: {
                    function: {
                        arguments: string;
                        name: string;
                    };
                    id: string;
                    /** @enum {string} */
                    type: "function";
                }[] | null;
            }[];
            min_p?: number | null;
            /** @description Slug of a chat Cargo; default: the operator's default chat Cargo */
            model?: string | null;
            /** @description Answers, each a job of its own, one after the other */
            n?: number | null;
            parallel_tool_calls?: boolean | null;
            presence_penalty?: number | null;
            /** @enum {string|null} */
            reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
            repeat_penalty?: number | null;
            response_format?: {
                /** @enum {string} */
                type: "text";
            } | {
                schema?: {
                    [key: string]: unknown;
                } | null;
                /** @enum {string} */
                type: "json_object";
            } | {
                json_schema: {
                    description?: string;
                    name?: string;
                    schema: {
                        [key: string]: unknown;
                    };
                    strict?: boolean | null;
                };
                /** @enum {string} */
                type: "json_schema";
            } | null;
            seed?: number | null;
            stop?: string | string[] | null;
            stream?: boolean | null;
            stream_options?: {
                include_usage?: boolean | null;
            } | null;
            temperature?: number | null;
            tool_choice?: ("auto" | "none" | "required") | {
                function: {
                    name: string;
                };
                /** @enum {string} */
                type: "function";
            } | {
                allowed_tools: {
                    /** @enum {string} */
                    mode: "auto" | "required";
                    tools: {
                        function: {
                            name: string;
                        };
                        /** @enum {string} */
                        type: "function";
                    }[];
                };
                /** @enum {string} */
                type: "allowed_tools";
            } | null;
            /** @description Functions; other tools are not offered to the model */
            tools?: ({
                function: {
                    description?: string | null;
                    name: string;
                    parameters?: {
                        [key: string]: unknown;
                    } | null;
                    strict?: boolean | null;
                };
                /** @enum {string} */
                type: "function";
            } | {
                type: string;
            })[] | null;
            top_k?: number | null;
            top_logprobs?: number | null;
            top_p?: number | null;
            /** @description OpenRouter's */
            usage?: {
                include?: boolean | null;
            } | null;
        };
        Conversation: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            id: string;
            metadata: {
                [key: string]: string;
            };
            model: string;
            system_prompt: string | null;
            title: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
        };
        ConversationEvent: components["schemas"]["MessageEvent"] | components["schemas"]["StatusEvent"] | components["schemas"]["TokenEvent"] | components["schemas"]["ReasoningEvent"] | components["schemas"]["ToolCallEvent"] | components["schemas"]["ProgressEvent"] | components["schemas"]["ImageEvent"] | components["schemas"]["DoneEvent"] | components["schemas"]["ErrorEvent"];
        ConversationWithMessages: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            id: string;
            messages: components["schemas"]["Message"][];
            metadata: {
                [key: string]: string;
            };
            model: string;
            system_prompt: string | null;
            title: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
        };
        /** @description A session whose token is in the cookie `atoll_session` alone */
        CookieSession: {
            account: components["schemas"]["Account"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at: string;
        };
        CoordinatorOverview: {
            address: string;
            /** @description False: it said nothing in time, and its part is missing in the sums */
            answers: boolean;
            /** @description Null for a coordinator that is alone */
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
            messages: {
                content: string | ({
                    text: string;
                    /** @enum {string} */
                    type: "text";
                } | {
                    id: string;
                    input: {
                        [key: string]: unknown;
                    };
                    name: string;
                    /** @enum {string} */
                    type: "tool_use";
                } | {
                    content?: string | {
                        text: string;
                        /** @enum {string} */
                        type: "text";
                    }[] | null;
                    tool_use_id: string;
                    /** @enum {string} */
                    type: "tool_result";
                } | {
                    /** @enum {string} */
                    type: "thinking";
                } | {
                    /** @enum {string} */
                    type: "redacted_thinking";
                })[];
                /** @enum {string} */
                role: "user" | "assistant" | "system";
            }[];
            /** @description Slug or alias of a chat Cargo */
            model: string;
            system?: string | {
                text: string;
                /** @enum {string} */
                type: "text";
            }[] | null;
            /** @description For a Cargo that thinks; by default it does not */
            thinking?: {
                budget_tokens?: null;
                /** @enum {string} */
                type: "disabled";
            } | {
                budget_tokens?: null;
                /** @enum {string} */
                type: "adaptive" | "between_tools";
            } | {
                budget_tokens: number;
                /** @enum {string} */
                type: "enabled";
            } | null;
            tool_choice?: {
                disable_parallel_tool_use?: boolean | null;
                /** @enum {string} */
                type: "auto";
            } | {
                disable_parallel_tool_use?: boolean | null;
                /** @enum {string} */
                type: "any";
            } | {
                disable_parallel_tool_use?: boolean | null;
                name: string;
                /** @enum {string} */
                type: "tool";
            } | {
                /** @enum {string} */
                type: "none";
            } | null;
            /** @description Your own; built-in ones are not offered to the model */
            tools?: ({
                description?: string | null;
                input_schema: {
                    [key: string]: unknown;
                };
                name: string;
                strict?: boolean | null;
                /** @enum {string|null} */
                type?: "custom" | null;
            } | {
                type: string;
            })[] | null;
        };
        CreateApiKey: {
            /** @description Slugs of the Cargos that it may run, others are 403 cargo_not_allowed; null: all */
            cargos?: string[] | null;
            /** @description What its jobs may cost in a calendar month (UTC): charged, or held while they are unfinished. More is 402 key_credits_exceeded; null: any amount */
            credits_per_month?: number | null;
            /**
             * Format: date-time
             * @description The key is refused from then on (401 key_expired); null: never
             */
            expires_at?: string | null;
            name?: string;
            /**
             * @description Comma-separated list of read and write, or an array of them
             * @example read,write
             */
            scopes?: string | ("read" | "write")[];
        };
        CreateCargo: {
            accept_limit_s?: number | null;
            adapters?: {
                /** @default 1 */
                scale?: number;
                sha256: string;
                /** @default null */
                size_bytes?: number | null;
                url: string;
            }[] | null;
            args?: string[] | null;
            /** @enum {string} */
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
            /** @description At most 16384 bytes as JSON */
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
            /** @enum {string} */
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            silence_limit_s?: number | null;
            slug: string;
            start_limit_s?: number | null;
            /** @enum {string|null} */
            task?: "feature-extraction" | "text-ranking" | null;
            /** @enum {string|null} */
            tools?: "template" | "grammar" | null;
            wait_limit_s?: number | null;
            /** @enum {string|null} */
            weights?: "fp32" | "fp16" | "int8" | "uint8" | "q8" | "q4" | "q4f16" | "bnb4" | null;
        };
        CreateConversation: {
            /** @description For the client's own use: at most 16 entries */
            metadata?: {
                [key: string]: string;
            } | null;
            /** @description Slug of a chat Cargo; default: the operator's default chat Cargo */
            model?: string | null;
            system_prompt?: string | null;
            title?: string | null;
        };
        CreatedApiKey: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            data: {
                cargos: string[] | null;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                created_at: string;
                /** @description Credits, with up to 6 decimals */
                credits_per_month: number | null;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                expires_at: string | null;
                id: string;
                /** @description The secret; shown only here */
                key: string;
                name: string;
                prefix: string;
                scopes: ("read" | "write")[];
            };
            id: string;
            /** @description The secret; shown only here */
            key: string;
            name: string;
            scopes: ("read" | "write")[];
        };
        CreateFileBatch: {
            /** @enum {string} */
            completion_window: "24h";
            /**
             * @description That of every line
             * @example /v1/chat/completions
             */
            endpoint: string;
            /** @description A JSONL file with the purpose `batch` */
            input_file_id: string;
            metadata?: {
                [key: string]: string;
            } | null;
            /** @description How long the files of results live; never longer than the coordinator keeps files */
            output_expires_after?: {
                /** @enum {string} */
                anchor: "created_at";
                seconds: number;
            } | null;
        };
        CreateIslandToken: {
            /** @description Default: "Island token" */
            name?: string;
        };
        Credentials: {
            email: string;
            password: string;
        };
        DeletedFile: {
            /** @enum {boolean} */
            deleted: true;
            id: string;
            /** @enum {string} */
            object: "file";
        };
        DoneEvent: {
            /** @enum {string} */
            finish_reason: "stop" | "length" | "tool_calls";
            /** @description The output, unless it is text that was streamed already */
            output?: unknown;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "done";
            usage: components["schemas"]["Usage"];
        };
        Download: {
            /**
             * @description npm: for `npm install`. deb: for `apt install`. wheel: for `pip install`
             * @enum {string}
             */
            format: "npm" | "deb" | "wheel";
            name: string;
            /**
             * @description The agent of hosts, or the client of programs
             * @enum {string}
             */
            package: "island" | "client";
            /** @description Below the coordinator's address; with .sha256 after it, its hash */
            path: string;
            /** @description In hexadecimal */
            sha256: string;
            size_bytes: number;
            version: string;
        };
        Downloads: {
            files: components["schemas"]["Download"][];
            /** @description Address at which other machines reach the coordinator, if the operator set it */
            public_url: string | null;
        };
        EmailProof: {
            password: string;
            /** @description ep_…, from the mail */
            token: string;
        };
        Embeddings: {
            data: {
                embedding: number[] | string;
                index: number;
                /** @enum {string} */
                object: "embedding";
            }[];
            model: string;
            /** @enum {string} */
            object: "list";
            usage: {
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        EmbeddingsRequest: {
            /** @description The model's own number; vectors are not shortened */
            dimensions?: number | null;
            /**
             * @description base64: little-endian 32-bit floats; default: float
             * @enum {string|null}
             */
            encoding_format?: "float" | "base64" | null;
            input: string | string[];
            /** @description Slug or alias of a Cargo with the task feature-extraction. Default: the operator's (default_embedding_cargo) */
            model?: string | null;
        };
        Error400: {
            error: {
                /** @enum {string} */
                code: "invalid_json" | "bad_request";
                message: string;
            };
        };
        Error401: {
            error: {
                /** @enum {string} */
                code: "unauthenticated" | "key_expired";
                message: string;
            };
        };
        Error402: {
            error: {
                /** @description What the account may spend */
                balance_credits?: number;
                /** @enum {string} */
                code: "insufficient_credits" | "key_credits_exceeded";
                message: string;
                /** @description Of key_credits_exceeded: what the API key may still spend in this month */
                remaining_credits?: number;
                /**
                 * Format: date-time
                 * @description Of key_credits_exceeded: when the next month of the API key begins
                 */
                renews_at?: string;
                /** @description What the jobs of the request cost together */
                required_credits?: number;
            };
        };
        Error403: {
            error: {
                /** @enum {string} */
                code: "insufficient_scope" | "cargo_not_allowed" | "operator_only" | "account_suspended";
                message: string;
            };
        };
        Error404: {
            error: {
                /** @enum {string} */
                code: "not_found" | "cargo_not_found";
                message: string;
            };
        };
        Error409: {
            error: {
                /** @enum {string} */
                code: "job_failed";
                /** @description Of a job that failed: the job's error.code */
                job_error?: string;
                message: string;
                /** @description Of a job that failed: a new try may succeed */
                retryable?: boolean;
            };
        };
        Error410: {
            error: {
                /** @enum {string} */
                code: "content_removed";
                message: string;
            };
        };
        Error413: {
            error: {
                /** @enum {string} */
                code: "payload_too_large" | "file_budget_exceeded";
                message: string;
            };
        };
        Error422: {
            error: {
                /** @enum {string} */
                code: "validation_failed" | "email_taken" | "slug_taken" | "too_many_keys" | "too_many_tokens" | "too_many_codes" | "too_many_cargos" | "job_not_cancellable" | "idempotency_conflict" | "context_length_exceeded" | "conversation_busy" | "file_in_use" | "position_lost";
                details?: {
                    message: string;
                    /** @description Dotted path ("messages.0.role"); empty for the whole body */
                    path: string;
                }[];
                message: string;
            };
        };
        Error429: {
            error: {
                /** @enum {string} */
                code: "rate_limited";
                /** @enum {string} */
                limit: "requests_per_minute" | "concurrent_jobs" | "concurrent_streams" | "login_attempts" | "pairing_attempts" | "island_sessions" | "daily_storage";
                message: string;
                /** @description Seconds, the same as Retry-After */
                retry_after: number;
            };
        };
        Error500: {
            error: {
                /** @enum {string} */
                code: "internal" | "job_failed";
                /** @description Of a job that failed: the job's error.code */
                job_error?: string;
                message: string;
                /** @description Of an internal error: its id in the log, for the operator */
                request_id?: string;
                /** @description Of a job that failed: a new try may succeed */
                retryable?: boolean;
            };
        };
        Error503: {
            error: {
                /** @enum {string} */
                code: "no_island_available" | "overloaded" | "shutting_down" | "storage_unavailable" | "cluster_unavailable" | "job_failed";
                /** @description Of a job that failed: the job's error.code */
                job_error?: string;
                message: string;
                /** @description Seconds, the same as Retry-After */
                retry_after?: number;
                /** @description Of a job that failed: a new try may succeed */
                retryable?: boolean;
            };
        };
        Error507: {
            error: {
                /** @enum {string} */
                code: "disk_full";
                message: string;
            };
        };
        ErrorEvent: {
            /** @enum {string} */
            code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal" | "cancelled";
            error: string;
            /** @description A new try may succeed */
            retryable: boolean;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "error";
        };
        File: {
            bytes: number;
            /** @description Unix time in seconds */
            created_at: number;
            /** @description When it is removed; null: never by itself */
            expires_at: number | null;
            filename: string;
            /** @example file_01JGFJJZ00000000000000000 */
            id: string;
            /** @enum {string} */
            object: "file";
            /** @enum {string} */
            purpose: "assistants" | "batch" | "batch_output" | "evals" | "fine-tune" | "user_data" | "vision";
            /** @description Of the content, in hexadecimal */
            sha256: string;
            /** @enum {string} */
            status: "processed";
        };
        FileBatch: {
            /** @description Unix time in seconds; null: not (yet) */
            cancelled_at: number | null;
            /** @description Unix time in seconds; null: not (yet) */
            cancelling_at: number | null;
            /** @description Unix time in seconds; null: not (yet) */
            completed_at: number | null;
            /** @enum {string} */
            completion_window: "24h";
            created_at: number;
            endpoint: string;
            /** @description Lines without one */
            error_file_id: string | null;
            /** @description Why it failed */
            errors: {
                data: {
                    code: string;
                    /** @description From 1; null: not about a line */
                    line: number | null;
                    message: string;
                    param: string | null;
                }[];
                /** @enum {string} */
                object: "list";
            } | null;
            /** @description Unix time in seconds; null: not (yet) */
            expired_at: number | null;
            expires_at: number;
            /** @description Unix time in seconds; null: not (yet) */
            failed_at: number | null;
            /** @description Unix time in seconds; null: not (yet) */
            finalizing_at: number | null;
            /** @example batch_01JGFJJZ00000000000000000 */
            id: string;
            /** @description Unix time in seconds; null: not (yet) */
            in_progress_at: number | null;
            input_file_id: string;
            metadata: {
                [key: string]: string;
            } | null;
            /** @enum {string} */
            object: "batch";
            /** @description Lines with an answer */
            output_file_id: string | null;
            request_counts: {
                completed: number;
                failed: number;
                total: number;
            };
            /** @enum {string} */
            status: "validating" | "failed" | "in_progress" | "finalizing" | "completed" | "expired" | "cancelling" | "cancelled";
        };
        FileBatchList: {
            data: components["schemas"]["FileBatch"][];
            first_id: string | null;
            has_more: boolean;
            last_id: string | null;
            /** @enum {string} */
            object: "list";
        };
        FileList: {
            data: components["schemas"]["File"][];
            first_id: string | null;
            has_more: boolean;
            last_id: string | null;
            /** @enum {string} */
            object: "list";
        };
        GrantCredits: {
            /** @description Negative: taken back; not 0 */
            credits: number;
            /** @description Shown to the account */
            note?: string;
        };
        Health: {
            checks: {
                /**
                 * @description Of one of several coordinators. down: others cannot be reached; its own jobs and Islands go on
                 * @enum {string}
                 */
                bus?: "ok" | "down";
                /**
                 * @description read_only: the disk is full, another process writes, or the database is away; nothing new is accepted
                 * @enum {string}
                 */
                store: "ok" | "read_only" | "failing";
            };
            /** @enum {string} */
            status: "ok" | "degraded";
            version: string;
        };
        ImageEvent: {
            data: string;
            /** @example png */
            format: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "image";
        };
        Images: {
            /** @description Unix time in seconds */
            created: number;
            data: {
                /** @description The file in base64 */
                b64_json: string;
            }[];
            /** @enum {string} */
            output_format: "png";
            usage: {
                input_tokens: number;
                input_tokens_details: {
                    image_tokens: number;
                    text_tokens: number;
                };
                /** @description Always 0: pictures have no tokens here */
                output_tokens: number;
                total_tokens: number;
            };
        };
        ImagesRequest: {
            /** @description How closely to follow the prompt */
            guidance_scale?: number | null;
            /** @description Slug of a Cargo that draws, or an alias of one */
            model?: string | null;
            /** @description Default: 1. Each is a job of its own */
            n?: number | null;
            /** @description What not to draw */
            negative_prompt?: string | null;
            /** @enum {string|null} */
            output_format?: "png" | null;
            prompt: string;
            /** @enum {string|null} */
            response_format?: "b64_json" | null;
            /** @description The same seed draws the same picture. Picture number i of n has the seed plus i */
            seed?: number | null;
            /** @description Default: auto, which is the Cargo's own */
            size?: string | null;
            /** @description Steps of the sampler; default: the Cargo's */
            steps?: number | null;
        };
        Island: {
            agent_version: string;
            /** @description Models and images that it fetches now, at most 10 */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** @description Its host id, a UUID */
            id: string;
            /** @description False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_seen_at: string;
            /** @description Null unless it is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** @description Slugs of Cargos whose model is in memory, at most 10 */
            loaded: string[];
            /** @description Slugs of Cargos whose model is on its way from the disk into memory, at most 10 */
            loading: string[];
            /** @description By its owner; else of its machine, or made of its id */
            name: string;
            /** @description Jobs that it has now, the oldest 10: of which Cargo, and since when */
            running: {
                cargo: string;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                since: string;
            }[];
            runtimes: {
                /** @enum {string} */
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
                version: string;
            }[];
            /**
             * @description paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute
             * @enum {string}
             */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** @description What the operator says; null unless suspended */
            suspended_because: string | null;
            /** @description Of these jobs */
            tokens: number;
            uptime: components["schemas"]["IslandUptime"];
        };
        /** @description An Island came or went, was renamed, or says something else of itself: the row of GET /islands */
        IslandChangedEvent: {
            agent_version: string;
            /** @description Models and images that it fetches now, at most 10 */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** @description Its host id, a UUID */
            id: string;
            /** @description False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_seen_at: string;
            /** @description Null unless it is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** @description Slugs of Cargos whose model is in memory, at most 10 */
            loaded: string[];
            /** @description Slugs of Cargos whose model is on its way from the disk into memory, at most 10 */
            loading: string[];
            /** @description By its owner; else of its machine, or made of its id */
            name: string;
            /** @description Its status is not offline */
            online: boolean;
            /** @description Jobs that it has now, the oldest 10: of which Cargo, and since when */
            running: {
                cargo: string;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                since: string;
            }[];
            runtimes: {
                /** @enum {string} */
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
                version: string;
            }[];
            /**
             * @description paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute
             * @enum {string}
             */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** @description What the operator says; null unless suspended */
            suspended_because: string | null;
            /** @description Of these jobs */
            tokens: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "island";
            uptime: components["schemas"]["IslandUptime"];
        };
        IslandDay: {
            /**
             * Format: date
             * @description UTC
             */
            day: string;
            /** @description Credits, with up to 6 decimals */
            earned: number;
            jobs: {
                cancelled: number;
                completed: number;
                failed: number;
                /** @description Attempts that failed or were lost here, and whose jobs were tried again */
                retried: number;
                timeout: number;
            };
            tokens: number;
            /** @description Share of the day connected, 0 to 1; null before it was first seen */
            uptime: number | null;
        };
        IslandDetail: {
            agent_version: string;
            /** @description Slugs of enabled Cargos whose model or image is on its disk; empty unless it is connected */
            cached_cargos: string[];
            /** @description Models and images on its disk, at most 200; empty unless it is connected */
            cached_models: string[];
            /** @description The last 30 UTC days with today, oldest first, without a gap */
            days: components["schemas"]["IslandDay"][];
            /** @description Models and images that it fetches now, at most 10 */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** @description Its host id, a UUID */
            id: string;
            /** @description False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_seen_at: string;
            /** @description Null unless it is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** @description Slugs of Cargos whose model is in memory, at most 10 */
            loaded: string[];
            /** @description Slugs of Cargos whose model is on its way from the disk into memory, at most 10 */
            loading: string[];
            /** @description By its owner; else of its machine, or made of its id */
            name: string;
            /** @description Jobs that it has now, the oldest 10: of which Cargo, and since when */
            running: {
                cargo: string;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                since: string;
            }[];
            runtimes: {
                /** @enum {string} */
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
                version: string;
            }[];
            /**
             * @description paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute
             * @enum {string}
             */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** @description What the operator says; null unless suspended */
            suspended_because: string | null;
            /** @description Of these jobs */
            tokens: number;
            uptime: components["schemas"]["IslandUptime"];
        };
        /** @description As it last said. What is not known is null */
        IslandDownload: {
            /** @description Of the last 10 s */
            bytes_per_second: number | null;
            /** @description Slug */
            cargo: string;
            /** @description 0 to 1; null while the size is not known */
            fraction: number | null;
            received_bytes: number | null;
            total_bytes: number | null;
        };
        /** @description As in the ledger, by the UTC day of the entry */
        IslandEarnings: {
            /** @description Credits, with up to 6 decimals */
            days_7: number;
            /** @description Credits, with up to 6 decimals */
            days_30: number;
            /** @description Credits, with up to 6 decimals */
            today: number;
        };
        /** @description After the caps of its owner. What is not known is null */
        IslandHardware: {
            arch: string;
            cpu_model: string | null;
            /** @description In MB of 2^20 bytes */
            disk_budget_mb: number;
            /** @description In MB of 2^20 bytes */
            disk_free_mb: number | null;
            gpus: {
                driver: string | null;
                name: string;
                unified_memory: boolean;
                vendor: string | null;
                /** @description In MB of 2^20 bytes */
                vram_mb: number | null;
            }[];
            logical_cores: number;
            os_name: string | null;
            physical_cores: number | null;
            platform: string;
            /** @description In MB of 2^20 bytes */
            ram_mb: number;
        };
        /** @description Jobs that ended here in the last 30 UTC days; stored as uptime is */
        IslandJobs: {
            cancelled: number;
            completed: number;
            failed: number;
            /** @description Attempts that failed or were lost here, and whose jobs were tried again */
            retried: number;
            timeout: number;
        };
        /** @description As it last said: every 10 s. What is not known is null */
        IslandLoad: {
            /** @description 0 to 1, over all cores */
            cpu: number | null;
            /** @description In MB of 2^20 bytes */
            free_ram_mb: number | null;
            /** @description In MB of 2^20 bytes */
            free_vram_mb: number | null;
            /** @description 0 to 1, of its busiest graphics card */
            gpu: number | null;
            /** @description Jobs that it runs at the same time */
            slots: number;
            slots_busy: number;
            /** @description Of its hottest processor or graphics card, in degrees Celsius */
            temperature_c: number | null;
        };
        /** @description GET /islands does not list it any more */
        IslandRemovedEvent: {
            id: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "island_removed";
        };
        IslandToken: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            id: string;
            /**
             * Format: date-time
             * @description When an Island last began a session with it; a session may last for weeks
             */
            last_used_at: string | null;
            name: string;
        };
        /** @description Share of the time connected, 0 to 1, in the UTC day, the last 7 and the last 30 UTC days with today, and not before it was first seen. Stored once a minute; a crash of a coordinator loses up to a minute */
        IslandUptime: {
            days_7: number | null;
            days_30: number | null;
            today: number | null;
        };
        Job: {
            /** @description Attempts begun so far; one that an Island refused does not count */
            attempts: number;
            batch_id: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            duration_ms: number | null;
            error: {
                /** @enum {string} */
                code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
                message: string;
                retryable: boolean;
            } | null;
            /** @enum {string|null} */
            finish_reason: "stop" | "length" | "tool_calls" | null;
            id: string;
            /**
             * @description Parameters of the request that the job does without, as in the header `Atoll-Ignored`
             * @example [
             *       "output_config.effort",
             *       "tools[8]"
             *     ]
             */
            ignored: string[];
            /** @description Empty once it was removed */
            input: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When the input was removed: by its owner, or because the operator keeps it no longer
             */
            input_removed_at: string | null;
            island_id: string | null;
            /** @description Text, or the JSON value that the Cargo produced; null until completed */
            output?: unknown;
            /**
             * Format: date-time
             * @description When output, stream and the message of an error were removed
             */
            output_removed_at: string | null;
            priority: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            started_at: string | null;
            /** @enum {string} */
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
        /** @description A job is new or in another state: the row of GET /jobs, without workload_id and input */
        JobChangedEvent: {
            batch_id: string | null;
            /** @description The same as workload_slug */
            cargo: string;
            /**
             * @description Why it failed or timed out
             * @enum {string}
             */
            code?: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            id: string;
            /** @enum {string} */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "job";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            workload_slug: string;
        };
        /** @description Any number of status, token, reasoning, tool_call, progress and image, then exactly one done or error as the last */
        JobEvent: components["schemas"]["StatusEvent"] | components["schemas"]["TokenEvent"] | components["schemas"]["ReasoningEvent"] | components["schemas"]["ToolCallEvent"] | components["schemas"]["ProgressEvent"] | components["schemas"]["ImageEvent"] | components["schemas"]["DoneEvent"] | components["schemas"]["ErrorEvent"];
        JobOutput: {
            id: string;
            /** @description The job is completed and `output` is all of it */
            is_complete: boolean;
            /** @description Text so far, the last image as {format, data}, or the output once completed; null before any output */
            output?: unknown;
            /** @description The last progress that the Cargo reported */
            progress: {
                step: number;
                total: number;
            } | null;
            /** @enum {string} */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            /** @description Model tokens delivered */
            tokens: number;
            /** @description Null until the job has ended */
            usage: components["schemas"]["Usage"] | null;
            workload_slug: string;
        };
        JobSummary: {
            batch_id: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            id: string;
            /** @enum {string} */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            workload_slug: string;
        };
        JobWebhook: {
            data: {
                /** @description Attempts begun so far; one that an Island refused does not count */
                attempts: number;
                batch_id: string | null;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                completed_at: string | null;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                created_at: string;
                duration_ms: number | null;
                error: {
                    /** @enum {string} */
                    code: "wait_timeout" | "no_island_fits" | "run_timeout" | "island_lost" | "island_refused" | "island_silent" | "cannot_resume" | "cargo_unavailable" | "invalid_input" | "file_unavailable" | "invalid_output" | "context_length_exceeded" | "model_unavailable" | "model_hash_mismatch" | "model_invalid" | "disk_full" | "manifest_untrusted" | "out_of_memory" | "output_too_large" | "schema_unmet" | "runtime_unavailable" | "runtime_crashed" | "cargo_failed" | "shutting_down" | "internal";
                    message: string;
                    retryable: boolean;
                } | null;
                /** @enum {string|null} */
                finish_reason: "stop" | "length" | "tool_calls" | null;
                id: string;
                /**
                 * @description Parameters of the request that the job does without, as in the header `Atoll-Ignored`
                 * @example [
                 *       "output_config.effort",
                 *       "tools[8]"
                 *     ]
                 */
                ignored: string[];
                /**
                 * Format: date-time
                 * @description When the input was removed: by its owner, or because the operator keeps it no longer
                 */
                input_removed_at: string | null;
                island_id: string | null;
                /** @description Text, or the JSON value that the Cargo produced; null until completed */
                output?: unknown;
                /** @description The output is too large for a webhook; GET /jobs/{id} has it */
                output_omitted: boolean;
                /**
                 * Format: date-time
                 * @description When output, stream and the message of an error were removed
                 */
                output_removed_at: string | null;
                priority: number;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                started_at: string | null;
                /** @enum {string} */
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
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            timestamp: string;
            /** @enum {string} */
            type: "job.completed" | "job.failed" | "job.cancelled" | "job.timeout";
        };
        KnownAccount: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Credits, with up to 6 decimals */
            credits: number;
            email: string;
            /** @description Set aside for unfinished jobs */
            held: number;
            id: string;
            /** @description Known ones, connected or not */
            islands: number;
            /** @enum {string} */
            role: "user" | "operator";
            suspended: components["schemas"]["Suspension"] | null;
            unfinished_jobs: number;
        };
        KnownAccountDetail: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Credits, with up to 6 decimals */
            credits: number;
            email: string;
            /** @description Set aside for unfinished jobs */
            held: number;
            id: string;
            /** @description Known ones, connected or not */
            islands: number;
            limits: components["schemas"]["AccountLimits"];
            /** @enum {string} */
            role: "user" | "operator";
            suspended: components["schemas"]["Suspension"] | null;
            unfinished_jobs: number;
        };
        KnownCargo: {
            /** @enum {string} */
            origin: "shipped" | "imported" | "owned";
            owner_email: string | null;
            owner_id: string | null;
            /** @description Null for a Cargo that breaks a rule of this version */
            pinned: boolean | null;
            /** @description In force for new jobs; null as above */
            price_per_job: number | null;
            /** @enum {string|null} */
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml" | null;
            /** @description That of its file; null unless it is shipped */
            shipped_price_per_job: number | null;
            slug: string;
            /** @enum {string} */
            status: "offered" | "waiting" | "unpinned" | "off" | "disabled" | "hidden";
        };
        KnownIsland: {
            account_email: string | null;
            /** @description Of its owner */
            account_id: string;
            agent_version: string;
            /** @description Models and images that it fetches now, at most 10 */
            downloads: components["schemas"]["IslandDownload"][];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** @description Its host id, a UUID */
            id: string;
            /** @description False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at */
            is_live: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_seen_at: string;
            /** @description Null unless it is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** @description Slugs of Cargos whose model is in memory, at most 10 */
            loaded: string[];
            /** @description Slugs of Cargos whose model is on its way from the disk into memory, at most 10 */
            loading: string[];
            /** @description By its owner; else of its machine, or made of its id */
            name: string;
            /** @description Jobs that it has now, the oldest 10: of which Cargo, and since when */
            running: {
                cargo: string;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                since: string;
            }[];
            runtimes: {
                /** @enum {string} */
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
                version: string;
            }[];
            /**
             * @description paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute
             * @enum {string}
             */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** @description What the operator says; null unless suspended */
            suspended_because: string | null;
        };
        KnownIslandDetail: {
            account_email: string | null;
            /** @description Of its owner */
            account_id: string;
            agent_version: string;
            /** @description Slugs of enabled Cargos whose model or image is on its disk; empty unless it is connected */
            cached_cargos: string[];
            /** @description Models and images on its disk, at most 200; empty unless it is connected */
            cached_models: string[];
            /** @description The last 30 UTC days with today, oldest first, without a gap */
            days: components["schemas"]["IslandDay"][];
            /** @description Models and images that it fetches now, at most 10 */
            downloads: components["schemas"]["IslandDownload"][];
            earned: components["schemas"]["IslandEarnings"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_seen_at: string;
            hardware: components["schemas"]["IslandHardware"];
            /** @description Its host id, a UUID */
            id: string;
            /** @description False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at */
            is_live: boolean;
            jobs: components["schemas"]["IslandJobs"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_seen_at: string;
            /** @description Null unless it is connected */
            load: components["schemas"]["IslandLoad"] | null;
            /** @description Slugs of Cargos whose model is in memory, at most 10 */
            loaded: string[];
            /** @description Slugs of Cargos whose model is on its way from the disk into memory, at most 10 */
            loading: string[];
            /** @description By its owner; else of its machine, or made of its id */
            name: string;
            /** @description Jobs that it has now, the oldest 10: of which Cargo, and since when */
            running: {
                cargo: string;
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                since: string;
            }[];
            runtimes: {
                /** @enum {string} */
                type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
                version: string;
            }[];
            /**
             * @description paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs in a row and gets few or none. suspended: by the operator; its agent asks again once a minute
             * @enum {string}
             */
            status: "online" | "paused" | "quarantined" | "offline" | "suspended";
            /** @description What the operator says; null unless suspended */
            suspended_because: string | null;
            /** @description Of these jobs */
            tokens: number;
            uptime: components["schemas"]["IslandUptime"];
        };
        /** @description Without what its owner asked and got, which operators do not see */
        KnownJob: {
            /** @description Null for an account that was deleted */
            account_email: string | null;
            account_id: string;
            /** @description Begun so far */
            attempts: number;
            batch_id: string | null;
            /** @description A client waits for the answer */
            chat: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completed_at: string | null;
            completion_tokens: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Credits, with up to 6 decimals */
            credits_used: number;
            error_code: string | null;
            id: string;
            island_id: string | null;
            /** @description Credits, with up to 6 decimals */
            price: number;
            priority: number;
            prompt_tokens: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            started_at: string | null;
            /** @enum {string} */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            workload_slug: string;
        };
        LedgerLine: {
            /** @description Change of `credits`; negative: fewer */
            amount: number;
            /** @description `credits` afterwards */
            balance: number;
            /** @description On the hold of a whole batch; its jobs are charged and released one by one */
            batch_id: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description Change of the credits set aside for unfinished jobs */
            held: number;
            /** @description Increases with time */
            id: number;
            /** @description On an earning: a job of any account */
            job_id: string | null;
            /**
             * @description grant: credits given. correction: credits that an operator took back. hold: set aside when a job is submitted. charge: taken from what was set aside. release: set aside, not charged, and returned. earning: an Island of the account ran a job
             * @enum {string}
             */
            kind: "grant" | "correction" | "hold" | "charge" | "release" | "earning";
            /** @description What an operator said of a grant or correction */
            note: string | null;
            /** @description Cargo of the job or batch */
            workload_slug: string | null;
        };
        ListedJob: {
            batch_id: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            id: string;
            /** @description Null if it is longer than 4 KB; empty once it was removed */
            input: {
                [key: string]: unknown;
            } | null;
            /** @enum {string} */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout";
            workload_id: number;
            workload_slug: string;
        };
        Message: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completed_at: string | null;
            /** @description Of an answer in progress: the text so far */
            content: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            error: {
                code: string;
                message: string;
            } | null;
            /** @enum {string|null} */
            finish_reason: "stop" | "length" | "tool_calls" | null;
            id: string;
            /** @description Of an answer: the job that produces it */
            job_id: string | null;
            /** @enum {string} */
            role: "user" | "assistant";
            /** @enum {string} */
            status: "in_progress" | "completed" | "failed" | "cancelled" | "timeout";
        };
        MessageEvent: {
            conversation_id: string;
            job_id: string;
            message: components["schemas"]["Message"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message";
            user_message: components["schemas"]["Message"];
        };
        MessageRequest: {
            max_tokens: number;
            messages: {
                content: string | ({
                    text: string;
                    /** @enum {string} */
                    type: "text";
                } | {
                    id: string;
                    input: {
                        [key: string]: unknown;
                    };
                    name: string;
                    /** @enum {string} */
                    type: "tool_use";
                } | {
                    content?: string | {
                        text: string;
                        /** @enum {string} */
                        type: "text";
                    }[] | null;
                    tool_use_id: string;
                    /** @enum {string} */
                    type: "tool_result";
                } | {
                    /** @enum {string} */
                    type: "thinking";
                } | {
                    /** @enum {string} */
                    type: "redacted_thinking";
                })[];
                /** @enum {string} */
                role: "user" | "assistant" | "system";
            }[];
            /** @description Slug or alias of a chat Cargo */
            model: string;
            output_config?: {
                format?: {
                    schema: {
                        [key: string]: unknown;
                    };
                    /** @enum {string} */
                    type: "json_schema";
                } | null;
            } | null;
            stop_sequences?: string[] | null;
            stream?: boolean | null;
            system?: string | {
                text: string;
                /** @enum {string} */
                type: "text";
            }[] | null;
            /** @description Default 1 */
            temperature?: number | null;
            /** @description For a Cargo that thinks; by default it does not */
            thinking?: {
                budget_tokens?: null;
                /** @enum {string} */
                type: "disabled";
            } | {
                budget_tokens?: null;
                /** @enum {string} */
                type: "adaptive" | "between_tools";
            } | {
                budget_tokens: number;
                /** @enum {string} */
                type: "enabled";
            } | null;
            tool_choice?: {
                disable_parallel_tool_use?: boolean | null;
                /** @enum {string} */
                type: "auto";
            } | {
                disable_parallel_tool_use?: boolean | null;
                /** @enum {string} */
                type: "any";
            } | {
                disable_parallel_tool_use?: boolean | null;
                name: string;
                /** @enum {string} */
                type: "tool";
            } | {
                /** @enum {string} */
                type: "none";
            } | null;
            /** @description Your own; built-in ones are not offered to the model */
            tools?: ({
                description?: string | null;
                input_schema: {
                    [key: string]: unknown;
                };
                name: string;
                strict?: boolean | null;
                /** @enum {string|null} */
                type?: "custom" | null;
            } | {
                type: string;
            })[] | null;
            top_k?: number | null;
            top_p?: number | null;
        };
        Model: {
            /** @description Slug of the Cargo that an alias stands for */
            alias_of: string | null;
            /** @description A connected Island can run it now; else requests wait for one */
            available: boolean;
            /** @description Endpoints that serve it, by their paths */
            capabilities: string[];
            /** @description Tokens of prompt and answer together; null: no limit is known */
            context_length: number | null;
            /** @description When it came into the catalog of this network: Unix time in seconds */
            created: number;
            /** @description Median time from a chat's submission to its first token, measured in the same way */
            first_token_ms: number | null;
            /** @description Islands that can run it now and have a free slot */
            free: number;
            /** @description Slug of the Cargo, or the alias */
            id: string;
            /** @description Requests to an endpoint of its `capabilities` that name no model run on it */
            is_default: boolean;
            /** @description Most tokens of an answer, for `max_tokens`; null: it does not chat */
            max_output_tokens: number | null;
            /** @enum {string} */
            object: "model";
            owned_by: string;
            /** @description A request costs `per_job` for each of its jobs, however many tokens it has */
            pricing: {
                /** @description Credits, with up to 6 decimals */
                per_job: number;
                /** @enum {string} */
                unit: "credits";
            };
            /** @description An Island that can run it now has its model or image, or needs none: no download first */
            ready: boolean;
            /** @description It thinks before it answers: `reasoning_content`, `reasoning_effort` */
            reasoning: boolean;
            /** @description Median of the last 100 jobs in 24 h, measured by the coordinator that answers, since it started; null: none was measured */
            tokens_per_second: number | null;
            /**
             * @description Who tells it of tools; null: nobody, it calls none. template: its own chat template. grammar: our text in the prompt. A grammar keeps its calls either way
             * @enum {string|null}
             */
            tool_calls: "template" | "grammar" | null;
            /** @enum {string} */
            type: "chat" | "embedding" | "rerank" | "classification" | "image" | "transcription" | "speech";
        };
        Moderation: {
            /** @description Of the last text's job */
            id: string;
            model: string;
            results: {
                /** @description True from a score of 0.5 on */
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
                /** @description Empty for a category that the Cargo does not know */
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
                /** @description 0 for a category that the Cargo does not know */
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
                /** @description Any category is true */
                flagged: boolean;
                /** @description The Cargo's own, best first: what is not one of OpenAI's categories is here only */
                labels: {
                    label: string;
                    score: number;
                }[];
            }[];
        };
        ModerationRequest: {
            input: string | (string | {
                text: string;
                /** @enum {string} */
                type: "text";
            })[];
            /** @description Default: the operator's (default_moderation_cargo). Slug of an onnx Cargo with the task text-classification */
            model?: string | null;
        };
        Network: {
            /** @description Public Cargos that can run now, by slug; GET /cargos lists all */
            cargos: components["schemas"]["AvailableCargo"][];
            /** @description False: a coordinator did not answer; its Islands are missing */
            is_complete: boolean;
            islands_online: number;
            /** @description What a new account gets */
            new_account_credits: number;
            /**
             * @description Who may open an account: everybody, whoever proves an e-mail address, or only the operator
             * @enum {string}
             */
            registration: "open" | "email" | "closed";
        };
        /** @description Over all coordinators, at most a second and a half old; the number of known Islands is at most as many ms old as it is */
        NetworkOverview: {
            coordinators: components["schemas"]["CoordinatorOverview"][];
            /** @description Jobs that failed or timed out */
            errors_last_minute: number;
            /** @description From a job's submission (of a batch: its admission) to its first token, of jobs that ended in the last minute; at most 5 % off */
            first_token_ms: {
                p50: number | null;
                p99: number | null;
            };
            /** @description False: the sums lack a coordinator, which does not answer */
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
            /** @description Of Islands that take new jobs */
            slots: {
                all: number;
                free: number;
            };
            tokens_per_second: number;
            waiting_by_reason: {
                jobs: number;
                /** @enum {string} */
                reason: "own_islands_only" | "no_island_online" | "no_island_offers_runtime" | "no_island_fits" | "all_busy" | "all_refused" | "all_failing" | "model_downloading" | "starting" | "no_output" | "account_limit";
            }[];
        };
        OpenAiError400: {
            error: {
                /** @enum {string} */
                code: "invalid_json" | "bad_request";
                message: string;
                param: string | null;
                /** @enum {string} */
                type: "invalid_request_error";
            };
        };
        OpenAiError401: {
            error: {
                /** @enum {string} */
                code: "unauthenticated" | "key_expired";
                message: string;
                param: string | null;
                /** @enum {string} */
                type: "authentication_error";
            };
        };
        OpenAiError402: {
            error: {
                /** @description What the account may spend */
                balance_credits?: number;
                /** @enum {string} */
                code: "insufficient_credits" | "key_credits_exceeded";
                message: string;
                param: string | null;
                /** @description Of key_credits_exceeded: what the API key may still spend in this month */
                remaining_credits?: number;
                /**
                 * Format: date-time
                 * @description Of key_credits_exceeded: when the next month of the API key begins
                 */
                renews_at?: string;
                /** @description What the jobs of the request cost together */
                required_credits?: number;
                /** @enum {string} */
                type: "insufficient_quota";
            };
        };
        OpenAiError403: {
            error: {
                /** @enum {string} */
                code: "insufficient_scope" | "cargo_not_allowed" | "operator_only" | "account_suspended";
                message: string;
                param: string | null;
                /** @enum {string} */
                type: "permission_error";
            };
        };
        OpenAiError404: {
            error: {
                /** @enum {string} */
                code: "not_found" | "model_not_found";
                message: string;
                param: string | null;
                /** @enum {string} */
                type: "invalid_request_error";
            };
        };
        OpenAiError409: {
            error: {
                /** @enum {string} */
                code: "job_failed";
                /** @description Of a job that failed: the job's error.code */
                job_error?: string;
                message: string;
                param: string | null;
                /** @description Of a job that failed: a new try may succeed */
                retryable?: boolean;
                /** @enum {string} */
                type: "invalid_request_error";
            };
        };
        OpenAiError410: {
            error: {
                /** @enum {string} */
                code: "content_removed";
                message: string;
                param: string | null;
                /** @enum {string} */
                type: "invalid_request_error";
            };
        };
        OpenAiError413: {
            error: {
                /** @enum {string} */
                code: "payload_too_large" | "file_budget_exceeded";
                message: string;
                param: string | null;
                /** @enum {string} */
                type: "invalid_request_error";
            };
        };
        OpenAiError422: {
            error: {
                /** @enum {string} */
                code: "validation_failed" | "email_taken" | "slug_taken" | "too_many_keys" | "too_many_tokens" | "too_many_codes" | "too_many_cargos" | "job_not_cancellable" | "idempotency_conflict" | "context_length_exceeded" | "conversation_busy" | "file_in_use" | "position_lost";
                details?: {
                    message: string;
                    /** @description Dotted path ("messages.0.role"); empty for the whole body */
                    path: string;
                }[];
                message: string;
                param: string | null;
                /** @enum {string} */
                type: "invalid_request_error";
            };
        };
        OpenAiError429: {
            error: {
                /** @enum {string} */
                code: "rate_limited";
                /** @enum {string} */
                limit: "requests_per_minute" | "concurrent_jobs" | "concurrent_streams" | "login_attempts" | "pairing_attempts" | "island_sessions" | "daily_storage";
                message: string;
                param: string | null;
                /** @description Seconds, the same as Retry-After */
                retry_after: number;
                /** @enum {string} */
                type: "rate_limit_error";
            };
        };
        OpenAiError500: {
            error: {
                /** @enum {string} */
                code: "internal" | "job_failed";
                /** @description Of a job that failed: the job's error.code */
                job_error?: string;
                message: string;
                param: string | null;
                /** @description Of an internal error: its id in the log, for the operator */
                request_id?: string;
                /** @description Of a job that failed: a new try may succeed */
                retryable?: boolean;
                /** @enum {string} */
                type: "server_error";
            };
        };
        OpenAiError503: {
            error: {
                /** @enum {string} */
                code: "no_island_available" | "overloaded" | "shutting_down" | "storage_unavailable" | "cluster_unavailable" | "job_failed";
                /** @description Of a job that failed: the job's error.code */
                job_error?: string;
                message: string;
                param: string | null;
                /** @description Seconds, the same as Retry-After */
                retry_after?: number;
                /** @description Of a job that failed: a new try may succeed */
                retryable?: boolean;
                /** @enum {string} */
                type: "server_error";
            };
        };
        OpenAiError507: {
            error: {
                /** @enum {string} */
                code: "disk_full";
                message: string;
                param: string | null;
                /** @enum {string} */
                type: "server_error";
            };
        };
        OpenAiResponse: {
            background: boolean;
            created_at: number;
            error: {
                /** @enum {string} */
                code: "server_error" | "invalid_prompt" | "context_length_exceeded";
                message: string;
            } | null;
            id: string;
            incomplete_details: {
                /** @enum {string} */
                reason: "max_output_tokens";
            } | null;
            instructions: string | null;
            max_output_tokens: number | null;
            metadata: {
                [key: string]: string;
            };
            model: string;
            /** @enum {string} */
            object: "response";
            output: ({
                /** @description Thoughts of a model that thinks */
                content: {
                    text: string;
                    /** @enum {string} */
                    type: "reasoning_text";
                }[];
                /** @description Opaque; nothing is encrypted, as `content` has it all */
                encrypted_content: string;
                id: string;
                /** @enum {string} */
                status: "in_progress" | "completed" | "incomplete";
                summary: unknown[];
                /** @enum {string} */
                type: "reasoning";
            } | {
                content: {
                    annotations: unknown[];
                    /** @description Empty unless they were asked for */
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
                    /** @enum {string} */
                    type: "output_text";
                }[];
                id: string;
                /** @enum {string} */
                role: "assistant";
                /** @enum {string} */
                status: "in_progress" | "completed" | "incomplete";
                /** @enum {string} */
                type: "message";
            } | {
                /** @description JSON */
                arguments: string;
                call_id: string;
                id: string;
                name: string;
                /** @description Of a function that a namespace has */
                namespace?: string;
                /** @enum {string} */
                status: "in_progress" | "completed" | "incomplete";
                /** @enum {string} */
                type: "function_call";
            })[];
            parallel_tool_calls: boolean;
            previous_response_id: string | null;
            reasoning: {
                /** @enum {string|null} */
                effort: "none" | "minimal" | "low" | "medium" | "high" | null;
                summary: null;
            };
            /** @enum {string} */
            status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
            store: boolean;
            temperature: number | null;
            text: {
                format: {
                    /** @enum {string} */
                    type: "text";
                } | {
                    /** @enum {string} */
                    type: "json_object";
                } | {
                    name: string;
                    schema: {
                        [key: string]: unknown;
                    };
                    strict?: boolean | null;
                    /** @enum {string} */
                    type: "json_schema";
                };
            };
            tool_choice: ("auto" | "none" | "required") | {
                name: string;
                /** @enum {string} */
                type: "function";
            } | {
                /** @enum {string} */
                mode: "auto" | "required";
                tools: {
                    name: string;
                    /** @enum {string} */
                    type: "function";
                }[];
                /** @enum {string} */
                type: "allowed_tools";
            };
            tools: {
                description: string | null;
                name: string;
                parameters: {
                    [key: string]: unknown;
                } | null;
                strict: boolean | null;
                /** @enum {string} */
                type: "function";
            }[];
            top_logprobs: number;
            top_p: number | null;
            /** @enum {string} */
            truncation: "disabled";
            usage: {
                /** @description Credits that were charged, with up to 6 decimals */
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
            /** @enum {string} */
            type: "response.created";
        } | {
            response: components["schemas"]["OpenAiResponse"];
            sequence_number: number;
            /** @enum {string} */
            type: "response.in_progress";
        } | {
            response: components["schemas"]["OpenAiResponse"];
            sequence_number: number;
            /** @enum {string} */
            type: "response.completed";
        } | {
            response: components["schemas"]["OpenAiResponse"];
            sequence_number: number;
            /** @enum {string} */
            type: "response.incomplete";
        } | {
            response: components["schemas"]["OpenAiResponse"];
            sequence_number: number;
            /** @enum {string} */
            type: "response.failed";
        } | {
            item: {
                /** @description Thoughts of a model that thinks */
                content: {
                    text: string;
                    /** @enum {string} */
                    type: "reasoning_text";
                }[];
                /** @description Opaque; nothing is encrypted, as `content` has it all */
                encrypted_content: string;
                id: string;
                /** @enum {string} */
                status: "in_progress" | "completed" | "incomplete";
                summary: unknown[];
                /** @enum {string} */
                type: "reasoning";
            } | {
                content: {
                    annotations: unknown[];
                    /** @description Empty unless they were asked for */
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
                    /** @enum {string} */
                    type: "output_text";
                }[];
                id: string;
                /** @enum {string} */
                role: "assistant";
                /** @enum {string} */
                status: "in_progress" | "completed" | "incomplete";
                /** @enum {string} */
                type: "message";
            } | {
                /** @description JSON */
                arguments: string;
                call_id: string;
                id: string;
                name: string;
                /** @description Of a function that a namespace has */
                namespace?: string;
                /** @enum {string} */
                status: "in_progress" | "completed" | "incomplete";
                /** @enum {string} */
                type: "function_call";
            };
            output_index: number;
            sequence_number: number;
            /** @enum {string} */
            type: "response.output_item.added";
        } | {
            item: {
                /** @description Thoughts of a model that thinks */
                content: {
                    text: string;
                    /** @enum {string} */
                    type: "reasoning_text";
                }[];
                /** @description Opaque; nothing is encrypted, as `content` has it all */
                encrypted_content: string;
                id: string;
                /** @enum {string} */
                status: "in_progress" | "completed" | "incomplete";
                summary: unknown[];
                /** @enum {string} */
                type: "reasoning";
            } | {
                content: {
                    annotations: unknown[];
                    /** @description Empty unless they were asked for */
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
                    /** @enum {string} */
                    type: "output_text";
                }[];
                id: string;
                /** @enum {string} */
                role: "assistant";
                /** @enum {string} */
                status: "in_progress" | "completed" | "incomplete";
                /** @enum {string} */
                type: "message";
            } | {
                /** @description JSON */
                arguments: string;
                call_id: string;
                id: string;
                name: string;
                /** @description Of a function that a namespace has */
                namespace?: string;
                /** @enum {string} */
                status: "in_progress" | "completed" | "incomplete";
                /** @enum {string} */
                type: "function_call";
            };
            output_index: number;
            sequence_number: number;
            /** @enum {string} */
            type: "response.output_item.done";
        } | {
            content_index: number;
            item_id: string;
            output_index: number;
            part: {
                annotations: unknown[];
                /** @description Empty unless they were asked for */
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
                /** @enum {string} */
                type: "output_text";
            } | {
                text: string;
                /** @enum {string} */
                type: "reasoning_text";
            };
            sequence_number: number;
            /** @enum {string} */
            type: "response.content_part.added";
        } | {
            content_index: number;
            item_id: string;
            output_index: number;
            part: {
                annotations: unknown[];
                /** @description Empty unless they were asked for */
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
                /** @enum {string} */
                type: "output_text";
            } | {
                text: string;
                /** @enum {string} */
                type: "reasoning_text";
            };
            sequence_number: number;
            /** @enum {string} */
            type: "response.content_part.done";
        } | {
            code: string;
            message: string;
            param: null;
            sequence_number: number;
            /** @enum {string} */
            type: "error";
        } | {
            content_index: number;
            delta: string;
            item_id: string;
            output_index: number;
            sequence_number: number;
            /** @enum {string} */
            type: "response.reasoning_text.delta";
        } | {
            content_index: number;
            item_id: string;
            output_index: number;
            sequence_number: number;
            text: string;
            /** @enum {string} */
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
            /** @enum {string} */
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
            /** @enum {string} */
            type: "response.output_text.done";
        } | {
            delta: string;
            item_id: string;
            output_index: number;
            sequence_number: number;
            /** @enum {string} */
            type: "response.function_call_arguments.delta";
        } | {
            arguments: string;
            item_id: string;
            name: string;
            output_index: number;
            sequence_number: number;
            /** @enum {string} */
            type: "response.function_call_arguments.done";
        };
        /** @description Over all coordinators, at most a second and a half old; the number of known Islands is at most as many ms old as it is */
        OverviewEvent: {
            coordinators: components["schemas"]["CoordinatorOverview"][];
            /** @description Jobs that failed or timed out */
            errors_last_minute: number;
            /** @description From a job's submission (of a batch: its admission) to its first token, of jobs that ended in the last minute; at most 5 % off */
            first_token_ms: {
                p50: number | null;
                p99: number | null;
            };
            /** @description False: the sums lack a coordinator, which does not answer */
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
            /** @description Of Islands that take new jobs */
            slots: {
                all: number;
                free: number;
            };
            tokens_per_second: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "overview";
            waiting_by_reason: {
                jobs: number;
                /** @enum {string} */
                reason: "own_islands_only" | "no_island_online" | "no_island_offers_runtime" | "no_island_fits" | "all_busy" | "all_refused" | "all_failing" | "model_downloading" | "starting" | "no_output" | "account_limit";
            }[];
        };
        OwnedCargo: {
            accept_limit_s?: number;
            adapters?: {
                /** @default 1 */
                scale?: number;
                sha256: string;
                /** @default null */
                size_bytes?: number | null;
                url: string;
            }[];
            /** @description By the operator. Until then only you see and run it */
            approved: boolean;
            args?: string[];
            /** @enum {string} */
            category: "llm" | "image" | "audio" | "vision" | "text" | "utility";
            container?: {
                command: string[] | null;
                digest: string | null;
                gpu: boolean;
                image: string;
                network: boolean;
            };
            context_tokens: number | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            description: string;
            enabled: boolean;
            /** @description At most 16384 bytes as JSON */
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
            /** @description Number of changes so far, the first version included */
            revision: number;
            run_limit_s: number;
            /** @enum {string} */
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            silence_limit_s?: number;
            slug: string;
            start_limit_s?: number;
            /** @enum {string} */
            task?: "feature-extraction" | "text-ranking";
            /** @enum {string} */
            tools?: "template" | "grammar";
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            wait_limit_s: number;
            /** @enum {string} */
            weights?: "fp32" | "fp16" | "int8" | "uint8" | "q8" | "q4" | "q4f16" | "bnb4";
        };
        PairingCode: {
            /** @description Eight letters and digits, none of 0, 1, I and O */
            code: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at: string;
            /** @description Of the token that the code becomes */
            name: string;
        };
        PostMessage: {
            content: string;
            frequency_penalty?: number | null;
            logit_bias?: {
                [key: string]: number;
            } | null;
            max_completion_tokens?: number | null;
            max_tokens?: number | null;
            min_p?: number | null;
            presence_penalty?: number | null;
            repeat_penalty?: number | null;
            response_format?: {
                /** @enum {string} */
                type: "text";
            } | {
                /** @enum {string} */
                type: "json_object";
            } | {
                json_schema: {
                    description?: string;
                    name?: string;
                    schema: {
                        [key: string]: unknown;
                    };
                    strict?: boolean | null;
                };
                /** @enum {string} */
                type: "json_schema";
            } | null;
            seed?: number | null;
            stop?: string | string[] | null;
            stream?: boolean | null;
            temperature?: number | null;
            /** @description Not served: null */
            tools?: null;
            top_k?: number | null;
            top_p?: number | null;
        };
        ProgressEvent: {
            step: number;
            total: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "progress";
        };
        QueueLine: {
            jobs: number;
            /** @description Of the oldest of them at the coordinator that has most */
            message: string;
            /** @description The account whose Islands alone may run them, until the Cargo is approved */
            only_islands_of: string | null;
            /** @enum {string} */
            reason: "own_islands_only" | "no_island_online" | "no_island_offers_runtime" | "no_island_fits" | "all_busy" | "all_refused" | "all_failing" | "model_downloading" | "starting" | "no_output" | "account_limit";
            /**
             * Format: date-time
             * @description Of the one that waits longest
             */
            waiting_since: string;
            workload_slug: string;
        };
        /** @description Changes are told from here on: whoever has read nothing yet reads its lists now */
        ReadyEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "ready";
        };
        /** @description What a model that thinks wrote beside its answer */
        ReasoningEvent: {
            /** @description Thoughts to append */
            content: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reasoning";
        };
        Recommendation: {
            demand_score: number;
            estimated_earnings_per_job: string;
            /** @description Chats without a model use it */
            is_default: boolean;
            model_hash: string | null;
            model_url: string;
            queued_demand: number;
            /** @enum {string} */
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            workload_slug: string;
        };
        RenameIsland: {
            /** @description Empty: the default name again */
            name: string;
        };
        Reranking: {
            /** @description Of the job */
            id: string;
            /** @description `usage` in the shape of Cohere's client */
            meta: {
                tokens: {
                    input_tokens: number;
                    /** @enum {number} */
                    output_tokens: 0;
                };
            };
            model: string;
            /** @enum {string} */
            object: "list";
            /** @description Best first */
            results: {
                document?: {
                    text: string;
                };
                /** @description Of the document in the request */
                index: number;
                /** @description By a Cargo that ranks, or (1 + cosine of the two vectors) / 2. To compare within one answer only */
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
            /** @description Default: the operator's (default_rerank_cargo). Slug of a Cargo with the task text-ranking or feature-extraction */
            model?: string | null;
            query: string;
            /** @description Default: false */
            return_documents?: boolean | null;
            /** @description Best results to return; default: all */
            top_n?: number | null;
        };
        /** @description Something may have been missed, or too much changed at once: read your lists again */
        ResetEvent: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reset";
        };
        ResponseRequest: {
            /** @description Answer at once; the response goes on without its client, who asks for it by its id */
            background?: boolean | null;
            include?: ("message.output_text.logprobs" | "reasoning.encrypted_content" | "file_search_call.results" | "web_search_call.results" | "web_search_call.action.sources" | "message.input_image.image_url" | "computer_call_output.output.image_url" | "code_interpreter_call.outputs")[] | null;
            input: string | ({
                content: string | {
                    text: string;
                    /** @enum {string} */
                    type: "input_text" | "output_text" | "text";
                }[];
                /** @enum {string} */
                role: "user" | "assistant" | "system" | "developer";
                /** @enum {string|null} */
                type?: "message" | null;
            } | {
                arguments: string;
                call_id: string;
                name: string;
                namespace?: string | null;
                /** @enum {string} */
                type: "function_call";
            } | {
                call_id: string;
                input: string;
                name: string;
                namespace?: string | null;
                /** @enum {string} */
                type: "custom_tool_call";
            } | {
                action: {
                    [key: string]: unknown;
                };
                call_id: string;
                /** @enum {string} */
                type: "local_shell_call";
            } | {
                call_id: string;
                output: string | {
                    text: string;
                    /** @enum {string} */
                    type: "input_text" | "output_text" | "text";
                }[];
                /** @enum {string} */
                type: "function_call_output" | "custom_tool_call_output";
            } | {
                /** @enum {string} */
                type: "reasoning" | "web_search_call" | "file_search_call" | "code_interpreter_call";
            } | {
                id: string;
                /** @enum {string} */
                type: "item_reference";
            })[];
            instructions?: string | null;
            max_output_tokens?: number | null;
            metadata?: {
                [key: string]: string;
            } | null;
            /** @description Default: the operator's default chat Cargo */
            model?: string | null;
            parallel_tool_calls?: boolean | null;
            /** @description A stored response: its conversation comes before `input`, without its instructions */
            previous_response_id?: string | null;
            reasoning?: {
                /** @enum {string|null} */
                effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
            } | null;
            /** @description Default true. False: prompt and answer are removed when the response has ended */
            store?: boolean | null;
            stream?: boolean | null;
            temperature?: number | null;
            text?: {
                format?: {
                    /** @enum {string} */
                    type: "text";
                } | {
                    /** @enum {string} */
                    type: "json_object";
                } | {
                    name: string;
                    schema: {
                        [key: string]: unknown;
                    };
                    strict?: boolean | null;
                    /** @enum {string} */
                    type: "json_schema";
                } | null;
            } | null;
            tool_choice?: ("auto" | "none" | "required") | {
                name: string;
                namespace?: string | null;
                /** @enum {string} */
                type: "function";
            } | {
                /** @enum {string} */
                mode: "auto" | "required";
                tools: {
                    name: string;
                    namespace?: string | null;
                    /** @enum {string} */
                    type: "function";
                }[];
                /** @enum {string} */
                type: "allowed_tools";
            } | null;
            /** @description Functions and namespaces of functions; other tools are not offered to the model */
            tools?: ({
                description?: string | null;
                name: string;
                parameters?: {
                    [key: string]: unknown;
                } | null;
                strict?: boolean | null;
                /** @enum {string} */
                type: "function";
            } | {
                description?: string | null;
                name: string;
                tools: ({
                    description?: string | null;
                    name: string;
                    parameters?: {
                        [key: string]: unknown;
                    } | null;
                    strict?: boolean | null;
                    /** @enum {string} */
                    type: "function";
                } | {
                    type: string;
                })[];
                /** @enum {string} */
                type: "namespace";
            } | {
                type: string;
            })[] | null;
            top_logprobs?: number | null;
            top_p?: number | null;
        };
        Session: {
            account: components["schemas"]["Account"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            expires_at: string;
            /** @description st_…; has every scope and can manage keys */
            token: string;
        };
        SetAccountLimits: {
            /** @description Left out: as it is; null: the default again */
            concurrent_jobs?: number | null;
            /** @description Left out: as it is; null: the default again */
            concurrent_streams?: number | null;
            /** @description Left out: as it is; null: the default again */
            requests_per_minute?: number | null;
            /** @description Left out: as it is; null: the default again */
            share?: number | null;
        };
        SetCargoPrice: {
            /** @description Null: the shipped price again */
            price_per_job: number | null;
        };
        SettingInForce: {
            allowed: string;
            /** @description Or what an unset key means */
            default: string;
            /** @description Name of its variable */
            environment: string;
            key: string;
            meaning: string;
            /** @enum {string} */
            source: "flag" | "environment" | "file" | "default";
            /** @description In the key's units; null: unset; (hidden): a secret that is set */
            value: string | null;
        };
        SignedCargo: {
            args: string[] | null;
            /** @description Null: the image's own */
            command: string[] | null;
            gpu: boolean;
            image: string | null;
            /** @description Null for an image: NOT PINNED, the tag decides */
            image_digest: string | null;
            model_bytes: number | null;
            model_commit: string | null;
            model_hash: string | null;
            model_url: string | null;
            /** @description True: it reaches the public internet */
            network: boolean;
            /** @description Credits, with up to 6 decimals */
            price_per_job: number;
            required_ram_mb: number;
            required_vram_mb: number;
            /** @enum {string} */
            runtime_type: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
        };
        SpeechEvent: {
            /** @description The next bytes of the file, in base64 */
            audio: string;
            /** @enum {string} */
            type: "speech.audio.delta";
        } | {
            /** @enum {string} */
            type: "speech.audio.done";
            usage: {
                input_tokens: number;
                output_tokens: number;
                total_tokens: number;
            };
        };
        SpeechRequest: {
            input: string;
            /** @description Slug of a Cargo that speaks, or an alias of one */
            model?: string | null;
            /**
             * @description Default: mp3. pcm: 24 kHz, 16 bit, mono, little-endian
             * @enum {string|null}
             */
            response_format?: "mp3" | "wav" | "pcm" | null;
            /** @description Default: 1 */
            speed?: number | null;
            /**
             * @description Default: audio
             * @enum {string|null}
             */
            stream_format?: "audio" | "sse" | null;
            /** @description A voice of the Cargo; `default` or none: the Cargo's first */
            voice?: string | null;
        };
        /** @description A change of state. One with a `message` tells the state again, with the id of the event before, and comes at once and every 5 s while there is no output */
        StatusEvent: {
            /**
             * @description Why there is no output yet
             * @example model is downloading on 1 Island (59 %)
             */
            message?: string;
            /**
             * @description How far the download of the model is, if that is known
             * @example 59
             */
            percent?: number;
            /**
             * @description streaming: output follows
             * @enum {string}
             */
            state: "pending" | "queued" | "running" | "streaming";
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "status";
        };
        SubmitBatch: {
            /**
             * @description fail_fast: the first job that fails or times out cancels the others. best_effort: all run
             * @default best_effort
             * @enum {string}
             */
            fail_mode?: "best_effort" | "fail_fast";
            /**
             * @description One job for each input
             * @example [
             *       {
             *         "prompt": "Count to 3."
             *       },
             *       {
             *         "prompt": "Count to 5."
             *       }
             *     ]
             */
            inputs: {
                [key: string]: unknown;
            }[];
            /** @default 0 */
            priority?: number;
            /**
             * @description Signs the POST: whsec_ and base64 of 24 to 64 bytes. Default: a new one, which only this answer shows
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
             */
            webhook_secret?: string;
            /**
             * @description URL that gets a signed POST (Standard Webhooks) at the end; https, and not a private address
             * @example https://example.com/hooks/atoll
             */
            webhook_url?: string;
            /**
             * @description Cargo slug
             * @example tiny-chat
             */
            workload: string;
        };
        SubmitJob: {
            /** @description Parameters of the Cargo; see its input_schema */
            input: {
                [key: string]: unknown;
            };
            /** @default 0 */
            priority?: number;
            /**
             * @description Signs the POST: whsec_ and base64 of 24 to 64 bytes. Default: a new one, which only this answer shows
             * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
             */
            webhook_secret?: string;
            /**
             * @description URL that gets a signed POST (Standard Webhooks) at the end; https, and not a private address
             * @example https://example.com/hooks/atoll
             */
            webhook_url?: string;
            /**
             * @description Cargo slug
             * @example tiny-chat
             */
            workload: string;
        };
        SubmittedBatch: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            completed_at: string | null;
            counts: components["schemas"]["BatchCounts"];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @enum {string} */
            fail_mode: "best_effort" | "fail_fast";
            /** @example batch_01JGFJJZ00000000000000000 */
            id: string;
            /** @description In the order of the inputs */
            jobs: components["schemas"]["BatchJob"][];
            /** @description Only with `include=output`: `output_offset` of the next request, as the outputs of one answer are bounded; null: there are no more */
            next_output_offset?: number | null;
            priority: number;
            /**
             * @description pending: no job has started. failed: all jobs have ended, at least one failed or timed out
             * @enum {string}
             */
            status: "pending" | "running" | "completed" | "failed" | "cancelled";
            webhook: components["schemas"]["WebhookLog"] | null;
            /** @description The secret that was made for the webhook; shown only here and when the request is repeated with its Idempotency-Key */
            webhook_secret?: string;
            workload_id: number;
            workload_slug: string;
        };
        SubmittedJob: {
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            id: string;
            input: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            status: "submitted";
            /** @description The secret that was made for the webhook; shown only here and when the request is repeated with its Idempotency-Key */
            webhook_secret?: string;
            workload_id: number;
            workload_slug: string;
        };
        Suspend: {
            /** @description Told to who is suspended */
            reason: string;
        };
        Suspension: {
            reason: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            since: string;
        };
        TextCompletion: {
            choices: {
                /** @enum {string|null} */
                finish_reason: "stop" | "length" | "tool_calls" | null;
                index: number;
                logprobs: null;
                text: string;
            }[];
            created: number;
            id: string;
            model: string;
            /** @enum {string} */
            object: "text_completion";
            /** @description Of a stream: in its last chunk, if it was asked for */
            usage?: {
                completion_tokens: number;
                /** @description Credits that were charged, with up to 6 decimals */
                cost: number;
                prompt_tokens: number;
                total_tokens: number;
            };
        };
        TextCompletionEvent: components["schemas"]["TextCompletion"] | components["schemas"]["ChatCompletionError"] | "[DONE]";
        TextCompletionRequest: {
            /** @description Begin each text with its prompt */
            echo?: boolean | null;
            frequency_penalty?: number | null;
            logit_bias?: {
                [key: string]: number;
            } | null;
            /** @description Default 16 */
            max_tokens?: number | null;
            min_p?: number | null;
            /** @description Slug or alias of a chat Cargo */
            model: string;
            presence_penalty?: number | null;
            /** @description Continued as it is, without the model's chat template. A list: one job for each text */
            prompt: string | string[];
            repeat_penalty?: number | null;
            seed?: number | null;
            stop?: string | string[] | null;
            /** @description For one prompt */
            stream?: boolean | null;
            stream_options?: {
                include_usage?: boolean | null;
            } | null;
            temperature?: number | null;
            top_k?: number | null;
            top_p?: number | null;
        };
        TokenEvent: {
            /** @description Text to append */
            content: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "token";
        };
        /** @description A part of a call of a tool */
        ToolCallEvent: {
            /** @description JSON text to append */
            arguments: string;
            /** @description In the first part of a call */
            id?: string;
            /** @description Which call of the answer, from 0 */
            index: number;
            /** @description In the first part of a call */
            name?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool_call";
        };
        Transcription: {
            /** @description Seconds */
            duration?: number;
            /** @description As it was asked for */
            language?: string;
            segments?: {
                end: number;
                id: number;
                start: number;
                text: string;
            }[];
            /**
             * @description Of verbose_json, like what follows
             * @enum {string}
             */
            task?: "transcribe" | "translate";
            text: string;
            usage: {
                seconds: number;
                /** @enum {string} */
                type: "duration";
            };
            words?: {
                end: number;
                start: number;
                word: string;
            }[];
        };
        TranscriptionForm: {
            /**
             * Format: binary
             * @description A WAV file
             */
            file: string;
            language?: string;
            /** @description Slug of a Cargo that writes speech down, or an alias */
            model?: string;
            /**
             * @default json
             * @enum {string}
             */
            response_format?: "json" | "text" | "srt" | "vtt" | "verbose_json";
            "timestamp_granularities[]"?: ("segment" | "word")[];
        };
        TranslationForm: {
            /**
             * Format: binary
             * @description A WAV file
             */
            file: string;
            /** @description Slug of a Cargo that writes speech down, or an alias */
            model?: string;
            /**
             * @default json
             * @enum {string}
             */
            response_format?: "json" | "text" | "srt" | "vtt" | "verbose_json";
        };
        /** @description Fields that are left out stay as they are; a title of null removes the title */
        UpdateConversation: {
            /** @description For the client's own use: at most 16 entries */
            metadata?: {
                [key: string]: string;
            };
            title?: string | null;
        };
        UploadFile: {
            /** @enum {string} */
            "expires_after[anchor]"?: "created_at";
            "expires_after[seconds]"?: number;
            /**
             * Format: binary
             * @description The file
             */
            file: string;
            /**
             * @description What it is for. Inputs of batches need `batch`; for all else any of them will do
             * @enum {string}
             */
            purpose: "assistants" | "batch" | "evals" | "fine-tune" | "user_data" | "vision";
        };
        Usage: {
            completion_tokens: number;
            /** @description Credits, with up to 6 decimals */
            credits_used: number;
            prompt_tokens: number;
            total_tokens: number;
        };
        UsageLine: {
            /** @description The key that submitted the jobs; null for a session, and for what is earned */
            api_key_id: string | null;
            completion_tokens: number;
            /** @description Credits, with up to 6 decimals */
            credits: number;
            /**
             * Format: date
             * @description When the jobs ended, in UTC
             */
            day: string | null;
            /** @description Jobs that cost or earned something */
            jobs: number;
            /**
             * @description spent: charged for jobs. earned: with Islands of the account
             * @enum {string}
             */
            kind: "spent" | "earned";
            prompt_tokens: number;
            workload_slug: string | null;
        };
        /** @description Why the job has not started, or runs and is silent; else null */
        Waiting: {
            /**
             * @description The reason as a sentence
             * @example 2 Islands fit, all busy
             */
            message: string;
            /**
             * @description How far the download of the model is, if that is known
             * @example 59
             */
            percent: number | null;
            /**
             * @description What the Island that has the job has yet to do; null while no Island has it
             * @enum {string|null}
             */
            phase: "accept" | "start" | "first_output" | "silence" | null;
            /** @description Place in the queue of its Cargo; 1 is next */
            position: number;
            /** @enum {string} */
            reason: "own_islands_only" | "no_island_online" | "no_island_offers_runtime" | "no_island_fits" | "all_busy" | "all_refused" | "all_failing" | "model_downloading" | "starting" | "no_output" | "account_limit";
        };
        WebhookLog: {
            /** @description The last ten tries, oldest first */
            attempts: {
                /**
                 * Format: date-time
                 * @description ISO 8601, UTC
                 */
                at: string;
                error: string | null;
                status: number | null;
            }[];
            /**
             * @description waiting: the job or batch has not ended. pending: to be delivered. failed: given up after a day, or because of a 410
             * @enum {string}
             */
            state: "waiting" | "pending" | "delivered" | "failed";
            url: string;
        };
    };
    responses: {
        /** @description The request cannot be read. Codes: invalid_json, bad_request */
        AnthropicError400: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError400"];
            };
        };
        /** @description No valid API key or session token. Codes: unauthenticated, key_expired */
        AnthropicError401: {
            headers: {
                "WWW-Authenticate": components["headers"]["Authenticate"];
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError401"];
            };
        };
        /** @description Too few credits, of the account or of the API key's month. Codes: insufficient_credits, key_credits_exceeded */
        AnthropicError402: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError402"];
            };
        };
        /** @description The key lacks the scope or may not run the Cargo, the caller is no operator, or the operator has disabled the operation or suspended the account. Codes: insufficient_scope, cargo_not_allowed, operator_only, account_suspended */
        AnthropicError403: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError403"];
            };
        };
        /** @description Not found, or it belongs to another account. Codes: not_found, model_not_found */
        AnthropicError404: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError404"];
            };
        };
        /** @description The job was cancelled while its client waited. Codes: job_failed */
        AnthropicError409: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError409"];
            };
        };
        /** @description It was removed for good: by its owner, or because it is older than the operator keeps. Codes: content_removed */
        AnthropicError410: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError410"];
            };
        };
        /** @description The body is larger than 1 MB, a file larger than it may be, or the account has as many files as it may. Codes: payload_too_large, file_budget_exceeded */
        AnthropicError413: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError413"];
            };
        };
        /** @description A field is wrong (`details` names each), or the current state does not allow the request. Codes: validation_failed, email_taken, slug_taken, too_many_keys, too_many_tokens, too_many_codes, too_many_cargos, job_not_cancellable, idempotency_conflict, context_length_exceeded, conversation_busy, file_in_use, position_lost */
        AnthropicError422: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError422"];
            };
        };
        /** @description Rate limit exceeded: `limit` names it, `retry_after` says when to try again. Codes: rate_limited */
        AnthropicError429: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError429"];
            };
        };
        /** @description Internal error, or a job that failed. Codes: internal, job_failed */
        AnthropicError500: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetryIfKnown"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError500"];
            };
        };
        /** @description Temporarily unavailable. Codes: no_island_available, overloaded, shutting_down, storage_unavailable, cluster_unavailable, job_failed */
        AnthropicError503: {
            headers: {
                "Retry-After": components["headers"]["RetryAfterIfKnown"];
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetryIfKnown"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError503"];
            };
        };
        /** @description The coordinator has no room on its disk; the operator has to make some. Codes: disk_full */
        AnthropicError507: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AnthropicError507"];
            };
        };
        /** @description The request cannot be read. Codes: invalid_json, bad_request */
        Error400: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error400"];
            };
        };
        /** @description No valid API key or session token. Codes: unauthenticated, key_expired */
        Error401: {
            headers: {
                "WWW-Authenticate": components["headers"]["Authenticate"];
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error401"];
            };
        };
        /** @description Too few credits, of the account or of the API key's month. Codes: insufficient_credits, key_credits_exceeded */
        Error402: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error402"];
            };
        };
        /** @description The key lacks the scope or may not run the Cargo, the caller is no operator, or the operator has disabled the operation or suspended the account. Codes: insufficient_scope, cargo_not_allowed, operator_only, account_suspended */
        Error403: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error403"];
            };
        };
        /** @description Not found, or it belongs to another account. Codes: not_found, cargo_not_found */
        Error404: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error404"];
            };
        };
        /** @description The job was cancelled while its client waited. Codes: job_failed */
        Error409: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error409"];
            };
        };
        /** @description It was removed for good: by its owner, or because it is older than the operator keeps. Codes: content_removed */
        Error410: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error410"];
            };
        };
        /** @description The body is larger than 1 MB, a file larger than it may be, or the account has as many files as it may. Codes: payload_too_large, file_budget_exceeded */
        Error413: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error413"];
            };
        };
        /** @description A field is wrong (`details` names each), or the current state does not allow the request. Codes: validation_failed, email_taken, slug_taken, too_many_keys, too_many_tokens, too_many_codes, too_many_cargos, job_not_cancellable, idempotency_conflict, context_length_exceeded, conversation_busy, file_in_use, position_lost */
        Error422: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error422"];
            };
        };
        /** @description Rate limit exceeded: `limit` names it, `retry_after` says when to try again. Codes: rate_limited */
        Error429: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error429"];
            };
        };
        /** @description Internal error, or a job that failed. Codes: internal, job_failed */
        Error500: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetryIfKnown"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error500"];
            };
        };
        /** @description Temporarily unavailable. Codes: no_island_available, overloaded, shutting_down, storage_unavailable, cluster_unavailable, job_failed */
        Error503: {
            headers: {
                "Retry-After": components["headers"]["RetryAfterIfKnown"];
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetryIfKnown"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error503"];
            };
        };
        /** @description The coordinator has no room on its disk; the operator has to make some. Codes: disk_full */
        Error507: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error507"];
            };
        };
        /** @description The request cannot be read. Codes: invalid_json, bad_request */
        OpenAiError400: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError400"];
            };
        };
        /** @description No valid API key or session token. Codes: unauthenticated, key_expired */
        OpenAiError401: {
            headers: {
                "WWW-Authenticate": components["headers"]["Authenticate"];
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError401"];
            };
        };
        /** @description Too few credits, of the account or of the API key's month. Codes: insufficient_credits, key_credits_exceeded */
        OpenAiError402: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError402"];
            };
        };
        /** @description The key lacks the scope or may not run the Cargo, the caller is no operator, or the operator has disabled the operation or suspended the account. Codes: insufficient_scope, cargo_not_allowed, operator_only, account_suspended */
        OpenAiError403: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError403"];
            };
        };
        /** @description Not found, or it belongs to another account. Codes: not_found, model_not_found */
        OpenAiError404: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError404"];
            };
        };
        /** @description The job was cancelled while its client waited. Codes: job_failed */
        OpenAiError409: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError409"];
            };
        };
        /** @description It was removed for good: by its owner, or because it is older than the operator keeps. Codes: content_removed */
        OpenAiError410: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError410"];
            };
        };
        /** @description The body is larger than 1 MB, a file larger than it may be, or the account has as many files as it may. Codes: payload_too_large, file_budget_exceeded */
        OpenAiError413: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError413"];
            };
        };
        /** @description A field is wrong (`details` names each), or the current state does not allow the request. Codes: validation_failed, email_taken, slug_taken, too_many_keys, too_many_tokens, too_many_codes, too_many_cargos, job_not_cancellable, idempotency_conflict, context_length_exceeded, conversation_busy, file_in_use, position_lost */
        OpenAiError422: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetry"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError422"];
            };
        };
        /** @description Rate limit exceeded: `limit` names it, `retry_after` says when to try again. Codes: rate_limited */
        OpenAiError429: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError429"];
            };
        };
        /** @description Internal error, or a job that failed. Codes: internal, job_failed */
        OpenAiError500: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetryIfKnown"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError500"];
            };
        };
        /** @description Temporarily unavailable. Codes: no_island_available, overloaded, shutting_down, storage_unavailable, cluster_unavailable, job_failed */
        OpenAiError503: {
            headers: {
                "Retry-After": components["headers"]["RetryAfterIfKnown"];
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                "X-Should-Retry": components["headers"]["ShouldRetryIfKnown"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError503"];
            };
        };
        /** @description The coordinator has no room on its disk; the operator has to make some. Codes: disk_full */
        OpenAiError507: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["RateLimitIfKnown"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemainingIfKnown"];
                "X-RateLimit-Reset": components["headers"]["RateLimitResetIfKnown"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenAiError507"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The scheme to sign in with: Bearer */
        Authenticate: string;
        /** @description The scheme to sign in with: Bearer */
        AuthenticateIfKnown: string;
        /** @description Paths of the request's hints that the response does without, as in `output_config.effort, tools[8]` */
        Ignored: string;
        /** @description Paths of the request's hints that the response does without, as in `output_config.effort, tools[8]` */
        IgnoredIfKnown: string;
        /** @description Requests that the key or session may send in a minute */
        RateLimit: number;
        /** @description Requests that the key or session may send in a minute */
        RateLimitIfKnown: number;
        /** @description Requests left in this minute */
        RateLimitRemaining: number;
        /** @description Requests left in this minute */
        RateLimitRemainingIfKnown: number;
        /** @description Unix time in seconds at which the oldest counted request leaves the window */
        RateLimitReset: number;
        /** @description Unix time in seconds at which the oldest counted request leaves the window */
        RateLimitResetIfKnown: number;
        /** @description Id of this request, as in the log; the caller's own X-Request-Id if it is valid */
        RequestId: string;
        /** @description Id of this request, as in the log; the caller's own X-Request-Id if it is valid */
        RequestIdIfKnown: string;
        /** @description Seconds to wait before the next try */
        RetryAfter: number;
        /** @description Seconds to wait before the next try */
        RetryAfterIfKnown: number;
        /** @description `false`: the same request would fail again, or cost again. Clients of OpenAI and Anthropic obey it */
        ShouldRetry: string;
        /** @description `false`: the same request would fail again, or cost again. Clients of OpenAI and Anthropic obey it */
        ShouldRetryIfKnown: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "user_01JGFJJZ00000000000000000G",
                     *         "email": "ada@example.com",
                     *         "credits": 9998.5,
                     *         "role": "user",
                     *         "created_at": "2026-01-01T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Account"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    deleteAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": {
                    password: string;
                };
            };
        };
        responses: {
            /** @description Deleted */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "user_01JGFJJZ00000000000000000G",
                     *         "deleted": true,
                     *         "kept": [
                     *           "entries of the ledger"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @enum {boolean} */
                            deleted: true;
                            id: string;
                            /** @description What stays for the books, under the account's id */
                            kept: string[];
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    changeAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "current_password": "correct horse battery",
                 *       "email": "ada@example.org"
                 *     }
                 */
                "application/json": components["schemas"]["ChangeAccount"];
            };
        };
        responses: {
            /** @description The account as it is now */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "user_01JGFJJZ00000000000000000G",
                     *         "email": "ada@example.com",
                     *         "credits": 9998.5,
                     *         "role": "user",
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "pending_email": "ada@example.org"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /**
                             * Format: date-time
                             * @description ISO 8601, UTC
                             */
                            created_at: string;
                            /** @description Credits, with up to 6 decimals */
                            credits: number;
                            email: string;
                            id: string;
                            /** @description An address that waits for its proof */
                            pending_email: string | null;
                            /** @enum {string} */
                            role: "user" | "operator";
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    listOwnCargos: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cargos */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "slug": "my-words",
                     *           "name": "My words",
                     *           "description": "Tells the mood of a text",
                     *           "category": "text",
                     *           "runtime_type": "onnx",
                     *           "onnx_task_type": "text-classification",
                     *           "licence": "Apache-2.0",
                     *           "price_per_job": 0.25,
                     *           "required_ram_mb": 512,
                     *           "required_vram_mb": 0,
                     *           "model": {
                     *             "url": "hf:ada/my-words",
                     *             "sha256": null,
                     *             "size_bytes": 67000000
                     *           },
                     *           "context_tokens": null,
                     *           "run_limit_s": 300,
                     *           "wait_limit_s": 3600,
                     *           "input_schema": {
                     *             "type": "object",
                     *             "properties": {
                     *               "input": {
                     *                 "type": "string"
                     *               }
                     *             },
                     *             "required": [
                     *               "input"
                     *             ]
                     *           },
                     *           "example_input": {
                     *             "input": "What a day!"
                     *           },
                     *           "enabled": true,
                     *           "approved": false,
                     *           "revision": 1,
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "updated_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0
                     *       }
                     *     }
                     */
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
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    listLedger: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lines of the ledger */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": 2,
                     *           "kind": "hold",
                     *           "amount": -1.5,
                     *           "held": 1.5,
                     *           "balance": 9998.5,
                     *           "job_id": "job_01JGFJJZ00000000000000000A",
                     *           "batch_id": null,
                     *           "workload_slug": "tiny-chat",
                     *           "note": null,
                     *           "created_at": "2026-01-01T12:00:00.000Z"
                     *         },
                     *         {
                     *           "id": 1,
                     *           "kind": "grant",
                     *           "amount": 10000,
                     *           "held": 0,
                     *           "balance": 10000,
                     *           "job_id": null,
                     *           "batch_id": null,
                     *           "workload_slug": null,
                     *           "note": null,
                     *           "created_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "total": 2,
                     *         "limit": 20,
                     *         "offset": 0
                     *       }
                     *     }
                     */
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
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "current": "correct horse battery",
                 *       "new": "another long password"
                 *     }
                 */
                "application/json": {
                    current: string;
                    new: string;
                };
            };
        };
        responses: {
            /** @description Changed */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "password_changed": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @enum {boolean} */
                            password_changed: true;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    getUsage: {
        parameters: {
            query?: {
                /** @description Id of a key */
                api_key?: string;
                /** @description Comma-separated list of day, workload, api_key; empty: only by kind */
                by?: string;
                /** @description First day (UTC); 30 days with the last one unless told */
                from?: string;
                kind?: "spent" | "earned";
                limit?: number;
                offset?: number;
                /** @description Last day, at most 366 days with the first one; today unless told */
                to?: string;
                /** @description Cargo slug */
                workload?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lines of usage */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "day": "2026-01-01",
                     *           "kind": "spent",
                     *           "workload_slug": "tiny-chat",
                     *           "api_key_id": "key_01JGFJJZ00000000000000000H",
                     *           "jobs": 12,
                     *           "prompt_tokens": 480,
                     *           "completion_tokens": 960,
                     *           "credits": 12
                     *         }
                     *       ],
                     *       "meta": {
                     *         "total": 1,
                     *         "limit": 100,
                     *         "offset": 0,
                     *         "from": "2025-12-03",
                     *         "to": "2026-01-01",
                     *         "spent": 12,
                     *         "earned": 0
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["UsageLine"][];
                        meta: {
                            /** @description Of all pages */
                            earned: number;
                            /** Format: date */
                            from: string;
                            limit: number;
                            offset: number;
                            /** @description Of all pages */
                            spent: number;
                            /** Format: date */
                            to: string;
                            total: number;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    listAnnouncements: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description At most 20 */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "ann_01JGFJJZ00000000000000000N",
                     *           "level": "warning",
                     *           "text": "Maintenance at 22:00 UTC",
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "until": "2026-01-02T00:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Announcement"][];
                    };
                };
            };
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Keys */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "key_01JGFJJZ00000000000000000H",
                     *           "name": "Laptop",
                     *           "scopes": [
                     *             "read",
                     *             "write"
                     *           ],
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "expires_at": "2026-12-31T00:00:00.000Z",
                     *           "cargos": [
                     *             "tiny-chat"
                     *           ],
                     *           "credits_per_month": 100,
                     *           "prefix": "ak_a1B2a1B2",
                     *           "last_used_at": null,
                     *           "credits_this_month": 12
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ApiKey"][];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Laptop",
                 *       "scopes": "read,write",
                 *       "expires_at": "2026-12-31T00:00:00.000Z",
                 *       "cargos": [
                 *         "tiny-chat"
                 *       ],
                 *       "credits_per_month": 100
                 *     }
                 */
                "application/json": components["schemas"]["CreateApiKey"];
            };
        };
        responses: {
            /** @description The key with its secret, which is never shown again */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "key_01JGFJJZ00000000000000000H",
                     *         "name": "Laptop",
                     *         "scopes": [
                     *           "read",
                     *           "write"
                     *         ],
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "expires_at": "2026-12-31T00:00:00.000Z",
                     *         "cargos": [
                     *           "tiny-chat"
                     *         ],
                     *         "credits_per_month": 100,
                     *         "prefix": "ak_a1B2a1B2",
                     *         "key": "ak_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2"
                     *       },
                     *       "key": "ak_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
                     *       "id": "key_01JGFJJZ00000000000000000H",
                     *       "name": "Laptop",
                     *       "scopes": [
                     *         "read",
                     *         "write"
                     *       ],
                     *       "created_at": "2026-01-01T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "key_01JGFJJZ00000000000000000H",
                     *         "revoked": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            id: string;
                            /** @enum {boolean} */
                            revoked: true;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    changeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "credits_per_month": 100,
                 *       "cargos": null
                 *     }
                 */
                "application/json": components["schemas"]["ChangeApiKey"];
            };
        };
        responses: {
            /** @description The key as it is now */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "key_01JGFJJZ00000000000000000H",
                     *         "name": "Laptop",
                     *         "scopes": [
                     *           "read",
                     *           "write"
                     *         ],
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "expires_at": "2026-12-31T00:00:00.000Z",
                     *         "cargos": null,
                     *         "credits_per_month": 100,
                     *         "prefix": "ak_a1B2a1B2",
                     *         "last_used_at": null,
                     *         "credits_this_month": 12
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ApiKey"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    createSpeech: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "supertonic-tts-2",
                 *       "input": "The tide comes in at noon.",
                 *       "voice": "F1",
                 *       "response_format": "mp3"
                 *     }
                 */
                "application/json": components["schemas"]["SpeechRequest"];
            };
        };
        responses: {
            /** @description The file, or its events with `stream_format: sse` */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "audio/mpeg": string;
                    "audio/pcm": string;
                    "audio/wav": string;
                    "text/event-stream": components["schemas"]["SpeechEvent"];
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            402: components["responses"]["OpenAiError402"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    createTranscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["TranscriptionForm"];
            };
        };
        responses: {
            /** @description The text, as JSON or by itself with its times */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "text": "The tide comes in at noon.",
                     *       "usage": {
                     *         "type": "duration",
                     *         "seconds": 3
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Transcription"];
                    "text/plain": string;
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            402: components["responses"]["OpenAiError402"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    createTranslation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["TranslationForm"];
            };
        };
        responses: {
            /** @description The text, as JSON or by itself with its times */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "text": "The tide comes in at noon.",
                     *       "usage": {
                     *         "type": "duration",
                     *         "seconds": 3
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Transcription"];
                    "text/plain": string;
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            402: components["responses"]["OpenAiError402"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    confirmEmail: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "ep_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2"
                 *     }
                 */
                "application/json": {
                    /** @description ep_…, from the mail */
                    token: string;
                };
            };
        };
        responses: {
            /** @description Changed */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "email_changed": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @enum {boolean} */
                            email_changed: true;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: {
                /** @description The token comes as a cookie that no script can read, and not in the body. Only for pages of the coordinator itself */
                "atoll-console"?: "1";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com",
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": components["schemas"]["Credentials"];
            };
        };
        responses: {
            /** @description The session */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "token": "st_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
                     *         "expires_at": "2026-01-31T12:00:00.000Z",
                     *         "account": {
                     *           "id": "user_01JGFJJZ00000000000000000G",
                     *           "email": "ada@example.com",
                     *           "credits": 9998.5,
                     *           "role": "user",
                     *           "created_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Session"] | components["schemas"]["CookieSession"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ended */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "logged_out": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @enum {boolean} */
                            logged_out: true;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    requestPasswordReset: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com"
                 *     }
                 */
                "application/json": {
                    email: string;
                };
            };
        };
        responses: {
            /** @description Accepted */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "accepted": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @enum {boolean} */
                            accepted: true;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    resetPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "pr_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
                 *       "new": "another long password"
                 *     }
                 */
                "application/json": {
                    new: string;
                    /** @description pr_…, from an e-mail or from the operator */
                    token: string;
                };
            };
        };
        responses: {
            /** @description Changed */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "password_changed": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @enum {boolean} */
                            password_changed: true;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    register: {
        parameters: {
            query?: never;
            header?: {
                /** @description The token comes as a cookie that no script can read, and not in the body. Only for pages of the coordinator itself */
                "atoll-console"?: "1";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com",
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": components["schemas"]["Credentials"];
            };
        };
        responses: {
            /** @description The account and its first session */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "token": "st_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
                     *         "expires_at": "2026-01-31T12:00:00.000Z",
                     *         "account": {
                     *           "id": "user_01JGFJJZ00000000000000000G",
                     *           "email": "ada@example.com",
                     *           "credits": 9998.5,
                     *           "role": "user",
                     *           "created_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Session"] | components["schemas"]["CookieSession"];
                    };
                };
            };
            /** @description A mail is on its way */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "accepted": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @enum {boolean} */
                            accepted: true;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    verifyEmail: {
        parameters: {
            query?: never;
            header?: {
                /** @description The token comes as a cookie that no script can read, and not in the body. Only for pages of the coordinator itself */
                "atoll-console"?: "1";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "ep_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": components["schemas"]["EmailProof"];
            };
        };
        responses: {
            /** @description The account and its first session */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "token": "st_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
                     *         "expires_at": "2026-01-31T12:00:00.000Z",
                     *         "account": {
                     *           "id": "user_01JGFJJZ00000000000000000G",
                     *           "email": "ada@example.com",
                     *           "credits": 9998.5,
                     *           "role": "user",
                     *           "created_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Session"] | components["schemas"]["CookieSession"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    listAvailability: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By slug */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "slug": "tiny-chat",
                     *           "islands": 3,
                     *           "ready": 2,
                     *           "free": 1
                     *         }
                     *       ],
                     *       "is_complete": true
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["AvailableCargo"][];
                        /** @description False: a coordinator did not answer; its Islands are missing */
                        is_complete: boolean;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    listFileBatches: {
        parameters: {
            query?: {
                /** @description Id of the last batch of the page before */
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of batches */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "object": "list",
                     *       "data": [
                     *         {
                     *           "id": "batch_01JGFJJZ00000000000000000Q",
                     *           "object": "batch",
                     *           "endpoint": "/v1/chat/completions",
                     *           "errors": null,
                     *           "input_file_id": "file_01JGFJJZ00000000000000000P",
                     *           "completion_window": "24h",
                     *           "status": "in_progress",
                     *           "output_file_id": null,
                     *           "error_file_id": null,
                     *           "created_at": 1735689600,
                     *           "in_progress_at": 1735689601,
                     *           "expires_at": 1735776000,
                     *           "finalizing_at": null,
                     *           "completed_at": null,
                     *           "failed_at": null,
                     *           "expired_at": null,
                     *           "cancelling_at": null,
                     *           "cancelled_at": null,
                     *           "request_counts": {
                     *             "total": 200,
                     *             "completed": 57,
                     *             "failed": 1
                     *           },
                     *           "metadata": {
                     *             "run": "nightly"
                     *           }
                     *         }
                     *       ],
                     *       "first_id": "batch_01JGFJJZ00000000000000000Q",
                     *       "last_id": "batch_01JGFJJZ00000000000000000Q",
                     *       "has_more": false
                     *     }
                     */
                    "application/json": components["schemas"]["FileBatchList"];
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
        };
    };
    createFileBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "input_file_id": "file_01JGFJJZ00000000000000000P",
                 *       "endpoint": "/v1/chat/completions",
                 *       "completion_window": "24h",
                 *       "metadata": {
                 *         "run": "nightly"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateFileBatch"];
            };
        };
        responses: {
            /** @description The batch is durable */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "batch_01JGFJJZ00000000000000000Q",
                     *       "object": "batch",
                     *       "endpoint": "/v1/chat/completions",
                     *       "errors": null,
                     *       "input_file_id": "file_01JGFJJZ00000000000000000P",
                     *       "completion_window": "24h",
                     *       "status": "validating",
                     *       "output_file_id": null,
                     *       "error_file_id": null,
                     *       "created_at": 1735689600,
                     *       "in_progress_at": null,
                     *       "expires_at": 1735776000,
                     *       "finalizing_at": null,
                     *       "completed_at": null,
                     *       "failed_at": null,
                     *       "expired_at": null,
                     *       "cancelling_at": null,
                     *       "cancelled_at": null,
                     *       "request_counts": {
                     *         "total": 0,
                     *         "completed": 0,
                     *         "failed": 0
                     *       },
                     *       "metadata": {
                     *         "run": "nightly"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FileBatch"];
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    getFileBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The batch */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "batch_01JGFJJZ00000000000000000Q",
                     *       "object": "batch",
                     *       "endpoint": "/v1/chat/completions",
                     *       "errors": null,
                     *       "input_file_id": "file_01JGFJJZ00000000000000000P",
                     *       "completion_window": "24h",
                     *       "status": "in_progress",
                     *       "output_file_id": null,
                     *       "error_file_id": null,
                     *       "created_at": 1735689600,
                     *       "in_progress_at": 1735689601,
                     *       "expires_at": 1735776000,
                     *       "finalizing_at": null,
                     *       "completed_at": null,
                     *       "failed_at": null,
                     *       "expired_at": null,
                     *       "cancelling_at": null,
                     *       "cancelled_at": null,
                     *       "request_counts": {
                     *         "total": 200,
                     *         "completed": 57,
                     *         "failed": 1
                     *       },
                     *       "metadata": {
                     *         "run": "nightly"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FileBatch"];
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
        };
    };
    cancelFileBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The batch, which soon ends */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "batch_01JGFJJZ00000000000000000Q",
                     *       "object": "batch",
                     *       "endpoint": "/v1/chat/completions",
                     *       "errors": null,
                     *       "input_file_id": "file_01JGFJJZ00000000000000000P",
                     *       "completion_window": "24h",
                     *       "status": "cancelling",
                     *       "output_file_id": null,
                     *       "error_file_id": null,
                     *       "created_at": 1735689600,
                     *       "in_progress_at": 1735689601,
                     *       "expires_at": 1735776000,
                     *       "finalizing_at": null,
                     *       "completed_at": null,
                     *       "failed_at": null,
                     *       "expired_at": null,
                     *       "cancelling_at": 1735689660,
                     *       "cancelled_at": null,
                     *       "request_counts": {
                     *         "total": 200,
                     *         "completed": 57,
                     *         "failed": 1
                     *       },
                     *       "metadata": {
                     *         "run": "nightly"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FileBatch"];
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    listCargos: {
        parameters: {
            query?: {
                category?: "llm" | "image" | "audio" | "vision" | "text" | "utility";
                runtime_type?: "container" | "wasm" | "onnx" | "llmcpp" | "diffusers" | "coreml";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cargos */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "cargos": [
                     *         {
                     *           "slug": "tiny-chat",
                     *           "name": "Tiny Chat",
                     *           "description": "Counts, adds small numbers and tells very short stories",
                     *           "runtime_type": "llmcpp",
                     *           "onnx_task_type": null,
                     *           "category": "llm",
                     *           "price_per_job": 0.01,
                     *           "required_vram_mb": 0,
                     *           "required_ram_mb": 256,
                     *           "context_tokens": 1024,
                     *           "licence": "MIT",
                     *           "model_sha256": "857f6ac0d6da446c8d8aa0b4349f9f4931263da78bbc81600f1312abbce1625e",
                     *           "chat": true
                     *         }
                     *       ],
                     *       "count": 1
                     *     }
                     */
                    "application/json": {
                        cargos: components["schemas"]["Cargo"][];
                        count: number;
                    };
                };
            };
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    createCargo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "slug": "my-words",
                 *       "name": "My words",
                 *       "description": "Tells the mood of a text",
                 *       "category": "text",
                 *       "runtime_type": "onnx",
                 *       "onnx_task_type": "text-classification",
                 *       "licence": "Apache-2.0",
                 *       "price_per_job": 0.25,
                 *       "required_ram_mb": 512,
                 *       "required_vram_mb": 0,
                 *       "model": {
                 *         "url": "hf:ada/my-words",
                 *         "sha256": null,
                 *         "size_bytes": 67000000
                 *       },
                 *       "context_tokens": null,
                 *       "run_limit_s": 300,
                 *       "wait_limit_s": 3600,
                 *       "input_schema": {
                 *         "type": "object",
                 *         "properties": {
                 *           "input": {
                 *             "type": "string"
                 *           }
                 *         },
                 *         "required": [
                 *           "input"
                 *         ]
                 *       },
                 *       "example_input": {
                 *         "input": "What a day!"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateCargo"];
            };
        };
        responses: {
            /** @description The Cargo, not approved */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "slug": "my-words",
                     *         "name": "My words",
                     *         "description": "Tells the mood of a text",
                     *         "category": "text",
                     *         "runtime_type": "onnx",
                     *         "onnx_task_type": "text-classification",
                     *         "licence": "Apache-2.0",
                     *         "price_per_job": 0.25,
                     *         "required_ram_mb": 512,
                     *         "required_vram_mb": 0,
                     *         "model": {
                     *           "url": "hf:ada/my-words",
                     *           "sha256": null,
                     *           "size_bytes": 67000000
                     *         },
                     *         "context_tokens": null,
                     *         "run_limit_s": 300,
                     *         "wait_limit_s": 3600,
                     *         "input_schema": {
                     *           "type": "object",
                     *           "properties": {
                     *             "input": {
                     *               "type": "string"
                     *             }
                     *           },
                     *           "required": [
                     *             "input"
                     *           ]
                     *         },
                     *         "example_input": {
                     *           "input": "What a day!"
                     *         },
                     *         "enabled": true,
                     *         "approved": false,
                     *         "revision": 1,
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "updated_at": "2026-01-01T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["OwnedCargo"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    getCargo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Cargo */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "slug": "tiny-chat",
                     *         "name": "Tiny Chat",
                     *         "description": "Counts, adds small numbers and tells very short stories",
                     *         "runtime_type": "llmcpp",
                     *         "onnx_task_type": null,
                     *         "category": "llm",
                     *         "price_per_job": 0.01,
                     *         "required_vram_mb": 0,
                     *         "required_ram_mb": 256,
                     *         "context_tokens": 1024,
                     *         "licence": "MIT",
                     *         "model_sha256": "857f6ac0d6da446c8d8aa0b4349f9f4931263da78bbc81600f1312abbce1625e",
                     *         "chat": true,
                     *         "workload_id": 7,
                     *         "task": null,
                     *         "input_schema": {
                     *           "type": "object",
                     *           "properties": {
                     *             "prompt": {
                     *               "type": "string"
                     *             }
                     *           }
                     *         },
                     *         "example_input": {
                     *           "prompt": "Count to 3."
                     *         },
                     *         "output_schema": {
                     *           "type": "string"
                     *         },
                     *         "run_limit_s": 300,
                     *         "wait_limit_s": 3600,
                     *         "accept_limit_s": null,
                     *         "start_limit_s": null,
                     *         "first_output_limit_s": null,
                     *         "silence_limit_s": null,
                     *         "approved": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["CargoDetail"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    deleteCargo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "slug": "my-words",
                     *         "deleted": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @enum {boolean} */
                            deleted: true;
                            slug: string;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    changeCargo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "price_per_job": 0.5
                 *     }
                 */
                "application/json": components["schemas"]["ChangeCargo"];
            };
        };
        responses: {
            /** @description The Cargo */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "slug": "my-words",
                     *         "name": "My words",
                     *         "description": "Tells the mood of a text",
                     *         "category": "text",
                     *         "runtime_type": "onnx",
                     *         "onnx_task_type": "text-classification",
                     *         "licence": "Apache-2.0",
                     *         "price_per_job": 0.5,
                     *         "required_ram_mb": 512,
                     *         "required_vram_mb": 0,
                     *         "model": {
                     *           "url": "hf:ada/my-words",
                     *           "sha256": null,
                     *           "size_bytes": 67000000
                     *         },
                     *         "context_tokens": null,
                     *         "run_limit_s": 300,
                     *         "wait_limit_s": 3600,
                     *         "input_schema": {
                     *           "type": "object",
                     *           "properties": {
                     *             "input": {
                     *               "type": "string"
                     *             }
                     *           },
                     *           "required": [
                     *             "input"
                     *           ]
                     *         },
                     *         "example_input": {
                     *           "input": "What a day!"
                     *         },
                     *         "enabled": true,
                     *         "approved": false,
                     *         "revision": 2,
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "updated_at": "2026-01-01T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["OwnedCargo"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    createChatCompletion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "tiny-chat",
                 *       "messages": [
                 *         {
                 *           "role": "system",
                 *           "content": "You count."
                 *         },
                 *         {
                 *           "role": "user",
                 *           "content": "Count to 3."
                 *         }
                 *       ],
                 *       "temperature": 0,
                 *       "stream": false
                 *     }
                 */
                "application/json": components["schemas"]["ChatCompletionRequest"];
            };
        };
        responses: {
            /** @description The completion, or with `stream` its chunks as Server-Sent Events */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "job_01JGFJJZ00000000000000000A",
                     *       "object": "chat.completion",
                     *       "created": 1767268800,
                     *       "model": "tiny-chat",
                     *       "choices": [
                     *         {
                     *           "index": 0,
                     *           "message": {
                     *             "role": "assistant",
                     *             "content": "1, 2, 3."
                     *           },
                     *           "logprobs": null,
                     *           "finish_reason": "stop"
                     *         }
                     *       ],
                     *       "usage": {
                     *         "prompt_tokens": 11,
                     *         "completion_tokens": 13,
                     *         "total_tokens": 24,
                     *         "cost": 1.5
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ChatCompletion"];
                    "text/event-stream": components["schemas"]["ChatCompletionEvent"];
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            402: components["responses"]["OpenAiError402"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    createCompletion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "tiny-chat",
                 *       "prompt": "An atoll is a ring of",
                 *       "max_tokens": 4
                 *     }
                 */
                "application/json": components["schemas"]["TextCompletionRequest"];
            };
        };
        responses: {
            /** @description The completion, or with `stream` its chunks as Server-Sent Events */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "job_01M80NFE2BATGX5PX4TK97HXWA",
                     *       "object": "text_completion",
                     *       "created": 1767225600,
                     *       "model": "tiny-chat",
                     *       "choices": [
                     *         {
                     *           "index": 0,
                     *           "text": " islands.",
                     *           "logprobs": null,
                     *           "finish_reason": "stop"
                     *         }
                     *       ],
                     *       "usage": {
                     *         "prompt_tokens": 7,
                     *         "completion_tokens": 2,
                     *         "total_tokens": 9,
                     *         "cost": 1.5
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TextCompletion"];
                    "text/event-stream": components["schemas"]["TextCompletionEvent"];
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            402: components["responses"]["OpenAiError402"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    listConversations: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Conversations */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "conv_01JGFJJZ00000000000000000D",
                     *           "title": "Counting",
                     *           "model": "tiny-chat",
                     *           "system_prompt": "You count.",
                     *           "metadata": {
                     *             "customer": "42"
                     *           },
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "updated_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0
                     *       }
                     *     }
                     */
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
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    createConversation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Counting",
                 *       "model": "tiny-chat",
                 *       "system_prompt": "You count.",
                 *       "metadata": {
                 *         "customer": "42"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CreateConversation"];
            };
        };
        responses: {
            /** @description The conversation, without messages */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "conv_01JGFJJZ00000000000000000D",
                     *         "title": "Counting",
                     *         "model": "tiny-chat",
                     *         "system_prompt": "You count.",
                     *         "metadata": {
                     *           "customer": "42"
                     *         },
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "updated_at": "2026-01-01T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Conversation"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    getConversation: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description Order of the messages; asc: oldest first */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The conversation */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "conv_01JGFJJZ00000000000000000D",
                     *         "title": "Counting",
                     *         "model": "tiny-chat",
                     *         "system_prompt": "You count.",
                     *         "metadata": {
                     *           "customer": "42"
                     *         },
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "updated_at": "2026-01-01T12:00:00.000Z",
                     *         "messages": [
                     *           {
                     *             "id": "msg_01JGFJJZ00000000000000000E",
                     *             "role": "user",
                     *             "content": "Count to 3.",
                     *             "status": "completed",
                     *             "job_id": null,
                     *             "finish_reason": null,
                     *             "error": null,
                     *             "created_at": "2026-01-01T12:00:00.000Z",
                     *             "completed_at": "2026-01-01T12:00:00.000Z"
                     *           },
                     *           {
                     *             "id": "msg_01JGFJJZ00000000000000000F",
                     *             "role": "assistant",
                     *             "content": "1, 2, 3.",
                     *             "status": "completed",
                     *             "job_id": "job_01JGFJJZ00000000000000000A",
                     *             "finish_reason": "stop",
                     *             "error": null,
                     *             "created_at": "2026-01-01T12:00:00.000Z",
                     *             "completed_at": "2026-01-01T12:00:01.250Z"
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "total": 2,
                     *         "limit": 100,
                     *         "offset": 0
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ConversationWithMessages"];
                        /** @description Of the messages */
                        meta: {
                            limit: number;
                            offset: number;
                            total: number;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    deleteConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "conv_01JGFJJZ00000000000000000D",
                     *         "deleted": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @enum {boolean} */
                            deleted: true;
                            id: string;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    updateConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Numbers"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateConversation"];
            };
        };
        responses: {
            /** @description The conversation */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "conv_01JGFJJZ00000000000000000D",
                     *         "title": "Numbers",
                     *         "model": "tiny-chat",
                     *         "system_prompt": "You count.",
                     *         "metadata": {
                     *           "customer": "42"
                     *         },
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "updated_at": "2026-01-01T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Conversation"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    postMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Count to 3.",
                 *       "max_tokens": 64,
                 *       "stream": false
                 *     }
                 */
                "application/json": components["schemas"]["PostMessage"];
            };
        };
        responses: {
            /** @description The answer, or with `stream` its events */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "message": {
                     *           "id": "msg_01JGFJJZ00000000000000000F",
                     *           "role": "assistant",
                     *           "content": "1, 2, 3.",
                     *           "status": "completed",
                     *           "job_id": "job_01JGFJJZ00000000000000000A",
                     *           "finish_reason": "stop",
                     *           "error": null,
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "completed_at": "2026-01-01T12:00:01.250Z"
                     *         },
                     *         "user_message": {
                     *           "id": "msg_01JGFJJZ00000000000000000E",
                     *           "role": "user",
                     *           "content": "Count to 3.",
                     *           "status": "completed",
                     *           "job_id": null,
                     *           "finish_reason": null,
                     *           "error": null,
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "completed_at": "2026-01-01T12:00:00.000Z"
                     *         },
                     *         "job_id": "job_01JGFJJZ00000000000000000A",
                     *         "usage": {
                     *           "prompt_tokens": 11,
                     *           "completion_tokens": 13,
                     *           "total_tokens": 24,
                     *           "credits_used": 1.5
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["AnsweredMessage"];
                    };
                    "text/event-stream": components["schemas"]["ConversationEvent"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            402: components["responses"]["Error402"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            409: components["responses"]["Error409"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page is at /docs */
            308: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    listDownloads: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The packages */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "public_url": "https://atoll.example",
                     *         "files": [
                     *           {
                     *             "name": "atoll-island-0.1.0.tgz",
                     *             "path": "/download/atoll-island-0.1.0.tgz",
                     *             "package": "island",
                     *             "format": "npm",
                     *             "version": "0.1.0",
                     *             "size_bytes": 115794626,
                     *             "sha256": "0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Downloads"];
                    };
                };
            };
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    createEmbeddings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "multilingual-e5-small",
                 *       "input": [
                 *         "an atoll",
                 *         "a ring of islands"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["EmbeddingsRequest"];
            };
        };
        responses: {
            /** @description One vector for each text, in the same order */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "object": "list",
                     *       "data": [
                     *         {
                     *           "object": "embedding",
                     *           "index": 0,
                     *           "embedding": [
                     *             0.25,
                     *             -0.5,
                     *             0.125
                     *           ]
                     *         },
                     *         {
                     *           "object": "embedding",
                     *           "index": 1,
                     *           "embedding": [
                     *             0.25,
                     *             -0.25,
                     *             0.5
                     *           ]
                     *         }
                     *       ],
                     *       "model": "multilingual-e5-small",
                     *       "usage": {
                     *         "prompt_tokens": 9,
                     *         "total_tokens": 9
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Embeddings"];
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            402: components["responses"]["OpenAiError402"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                last_event_id?: string;
                /** @description Adds the overview of the network, for operators */
                scope?: "network";
            };
            header?: {
                "last-event-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events; the data of each is an AccountEvent */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["AccountEvent"];
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    listFiles: {
        parameters: {
            query?: {
                /** @description Id of the last file of the page before */
                after?: string;
                limit?: number;
                /** @description By creation */
                order?: "asc" | "desc";
                purpose?: "assistants" | "batch" | "batch_output" | "evals" | "fine-tune" | "user_data" | "vision";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of files */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "object": "list",
                     *       "data": [
                     *         {
                     *           "id": "file_01JGFJJZ00000000000000000P",
                     *           "object": "file",
                     *           "bytes": 1204224,
                     *           "created_at": 1735689600,
                     *           "expires_at": 1738281600,
                     *           "filename": "meeting.wav",
                     *           "purpose": "user_data",
                     *           "status": "processed",
                     *           "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                     *         }
                     *       ],
                     *       "first_id": "file_01JGFJJZ00000000000000000P",
                     *       "last_id": "file_01JGFJJZ00000000000000000P",
                     *       "has_more": false
                     *     }
                     */
                    "application/json": components["schemas"]["FileList"];
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
        };
    };
    uploadFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["UploadFile"];
            };
        };
        responses: {
            /** @description The file is durable */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "file_01JGFJJZ00000000000000000P",
                     *       "object": "file",
                     *       "bytes": 1204224,
                     *       "created_at": 1735689600,
                     *       "expires_at": 1738281600,
                     *       "filename": "meeting.wav",
                     *       "purpose": "user_data",
                     *       "status": "processed",
                     *       "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                     *     }
                     */
                    "application/json": components["schemas"]["File"];
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
            507: components["responses"]["OpenAiError507"];
        };
    };
    getFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "file_01JGFJJZ00000000000000000P",
                     *       "object": "file",
                     *       "bytes": 1204224,
                     *       "created_at": 1735689600,
                     *       "expires_at": 1738281600,
                     *       "filename": "meeting.wav",
                     *       "purpose": "user_data",
                     *       "status": "processed",
                     *       "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                     *     }
                     */
                    "application/json": components["schemas"]["File"];
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
        };
    };
    deleteFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Nobody can read it any more */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "file_01JGFJJZ00000000000000000P",
                     *       "object": "file",
                     *       "deleted": true
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedFile"];
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    getFileContent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The part that Range names */
            206: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Of If-None-Match or If-Modified-Since: the client has it already */
            304: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            /** @description If-Match or If-Unmodified-Since does not hold */
            412: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description No part of the content is in Range */
            416: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Healthy, or degraded and able to serve: the bus is down */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok",
                     *       "version": "0.1.0",
                     *       "checks": {
                     *         "store": "ok"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            /** @description Degraded: the store fails */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    createImages: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "tiny-picture",
                 *       "prompt": "a red ring on blue",
                 *       "size": "64x64",
                 *       "seed": 7
                 *     }
                 */
                "application/json": components["schemas"]["ImagesRequest"];
            };
        };
        responses: {
            /** @description The pictures, in the order of their seeds */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created": 1767268800,
                     *       "data": [
                     *         {
                     *           "b64_json": "iVBORw0KGgo="
                     *         }
                     *       ],
                     *       "output_format": "png",
                     *       "usage": {
                     *         "input_tokens": 14,
                     *         "input_tokens_details": {
                     *           "text_tokens": 14,
                     *           "image_tokens": 0
                     *         },
                     *         "output_tokens": 0,
                     *         "total_tokens": 14
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Images"];
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            402: components["responses"]["OpenAiError402"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    leaveIsland: {
        parameters: {
            query: {
                host_id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forgotten */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *         "removed": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            id: string;
                            removed: boolean;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    listIslandTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tokens */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "itk_01JGFJJZ00000000000000000K",
                     *           "name": "Garage",
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "last_used_at": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["IslandToken"][];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    createIslandToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Garage"
                 *     }
                 */
                "application/json": components["schemas"]["CreateIslandToken"];
            };
        };
        responses: {
            /** @description The token with its secret, which is never shown again */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "itk_01JGFJJZ00000000000000000K",
                     *         "name": "Garage",
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "last_used_at": null
                     *       },
                     *       "token": "it_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["IslandToken"];
                        /** @description The secret, it_…; shown only here */
                        token: string;
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    revokeIslandToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "itk_01JGFJJZ00000000000000000K",
                     *         "revoked": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            id: string;
                            /** @enum {boolean} */
                            revoked: true;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    createPairingCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Garage"
                 *     }
                 */
                "application/json": components["schemas"]["CreateIslandToken"];
            };
        };
        responses: {
            /** @description The code, which is never shown again */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "code": "K7WM-3QXA",
                     *         "name": "Garage",
                     *         "expires_at": "2026-01-01T12:10:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["PairingCode"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    getIslandEarnings: {
        parameters: {
            query: {
                host_id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Figures of the Island */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "name": "garage",
                     *         "uptime": {
                     *           "today": 1,
                     *           "days_7": 0.98,
                     *           "days_30": 0.91
                     *         },
                     *         "jobs": {
                     *           "completed": 812,
                     *           "failed": 3,
                     *           "cancelled": 20,
                     *           "timeout": 1,
                     *           "retried": 2
                     *         },
                     *         "tokens": 143210,
                     *         "earned": {
                     *           "today": 4.5,
                     *           "days_7": 31.05,
                     *           "days_30": 118.35
                     *         },
                     *         "recent": [
                     *           {
                     *             "job_id": "job_01JGFJJZ00000000000000000A",
                     *             "credits": 1.35,
                     *             "earned_at": "2026-01-01T12:00:01.250Z"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            earned: components["schemas"]["IslandEarnings"];
                            jobs: components["schemas"]["IslandJobs"];
                            name: string;
                            /** @description Of the latest jobs that earned something, newest first; at most 100 */
                            recent: {
                                /** @description Credits, with up to 6 decimals */
                                credits: number;
                                /**
                                 * Format: date-time
                                 * @description ISO 8601, UTC
                                 */
                                earned_at: string;
                                job_id: string;
                            }[];
                            tokens: number;
                            uptime: components["schemas"]["IslandUptime"];
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    getIslandFile: {
        parameters: {
            query: {
                attempt: number;
                expires: number;
                host_id: string;
                job: string;
                signature: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The part that Range names */
            206: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Of If-None-Match or If-Modified-Since: the client has it already */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Error401"];
            404: components["responses"]["Error404"];
            /** @description If-Match or If-Unmodified-Since does not hold */
            412: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description No part of the content is in Range */
            416: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    pairIsland: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "K7WM-3QXA"
                 *     }
                 */
                "application/json": {
                    /** @description In capital or small letters, with or without the dash */
                    code: string;
                };
            };
        };
        responses: {
            /** @description The token, which is never shown again */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "itk_01JGFJJZ00000000000000000K",
                     *         "name": "Garage",
                     *         "token": "it_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
                     *         "account_id": "user_01JGFJJZ00000000000000000G"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            account_id: string;
                            id: string;
                            name: string;
                            /** @description The secret, it_…; shown only here */
                            token: string;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    recommendCargos: {
        parameters: {
            query: {
                host_id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Recommendations */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "host_id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *       "recommendations": [
                     *         {
                     *           "workload_slug": "tiny-chat",
                     *           "model_url": "https://atoll.example/models/tiny-chat.gguf",
                     *           "model_hash": null,
                     *           "runtime_type": "llmcpp",
                     *           "estimated_earnings_per_job": "0.009",
                     *           "queued_demand": 3,
                     *           "demand_score": 48,
                     *           "is_default": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        host_id: string;
                        recommendations: components["schemas"]["Recommendation"][];
                    };
                };
            };
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    listIslands: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                status?: "online" | "paused" | "quarantined" | "offline" | "suspended";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of Islands */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *           "name": "garage",
                     *           "status": "online",
                     *           "is_live": true,
                     *           "suspended_because": null,
                     *           "agent_version": "0.1.0",
                     *           "hardware": {
                     *             "platform": "linux",
                     *             "arch": "x64",
                     *             "os_name": "Debian GNU/Linux 12",
                     *             "cpu_model": "AMD Ryzen 7 7700",
                     *             "logical_cores": 16,
                     *             "physical_cores": 8,
                     *             "ram_mb": 32000,
                     *             "gpus": [
                     *               {
                     *                 "vendor": "NVIDIA",
                     *                 "name": "RTX 4070",
                     *                 "vram_mb": 12282,
                     *                 "unified_memory": false,
                     *                 "driver": "550.90"
                     *               }
                     *             ],
                     *             "disk_free_mb": 210000,
                     *             "disk_budget_mb": 51200
                     *           },
                     *           "runtimes": [
                     *             {
                     *               "type": "llmcpp",
                     *               "version": "node-llama-cpp 3.22.1, cuda"
                     *             }
                     *           ],
                     *           "load": {
                     *             "slots": 4,
                     *             "slots_busy": 1,
                     *             "cpu": 0.21,
                     *             "gpu": 0.87,
                     *             "free_ram_mb": 24000,
                     *             "free_vram_mb": 9800,
                     *             "temperature_c": 61
                     *           },
                     *           "loaded": [
                     *             "tiny-chat"
                     *           ],
                     *           "loading": [],
                     *           "downloads": [
                     *             {
                     *               "cargo": "phi-4",
                     *               "fraction": 0.5,
                     *               "received_bytes": 4500000000,
                     *               "total_bytes": 9000000000,
                     *               "bytes_per_second": 40000000
                     *             }
                     *           ],
                     *           "running": [
                     *             {
                     *               "cargo": "tiny-chat",
                     *               "since": "2026-01-01T12:00:01.250Z"
                     *             }
                     *           ],
                     *           "first_seen_at": "2026-01-01T12:00:00.000Z",
                     *           "last_seen_at": "2026-01-01T12:00:01.250Z",
                     *           "uptime": {
                     *             "today": 1,
                     *             "days_7": 0.98,
                     *             "days_30": 0.91
                     *           },
                     *           "jobs": {
                     *             "completed": 812,
                     *             "failed": 3,
                     *             "cancelled": 20,
                     *             "timeout": 1,
                     *             "retried": 2
                     *           },
                     *           "tokens": 143210,
                     *           "earned": {
                     *             "today": 4.5,
                     *             "days_7": 31.05,
                     *             "days_30": 118.35
                     *           }
                     *         }
                     *       ],
                     *       "meta": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0
                     *       }
                     *     }
                     */
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
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    getIsland: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Island */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *         "name": "garage",
                     *         "status": "online",
                     *         "is_live": true,
                     *         "suspended_because": null,
                     *         "agent_version": "0.1.0",
                     *         "hardware": {
                     *           "platform": "linux",
                     *           "arch": "x64",
                     *           "os_name": "Debian GNU/Linux 12",
                     *           "cpu_model": "AMD Ryzen 7 7700",
                     *           "logical_cores": 16,
                     *           "physical_cores": 8,
                     *           "ram_mb": 32000,
                     *           "gpus": [
                     *             {
                     *               "vendor": "NVIDIA",
                     *               "name": "RTX 4070",
                     *               "vram_mb": 12282,
                     *               "unified_memory": false,
                     *               "driver": "550.90"
                     *             }
                     *           ],
                     *           "disk_free_mb": 210000,
                     *           "disk_budget_mb": 51200
                     *         },
                     *         "runtimes": [
                     *           {
                     *             "type": "llmcpp",
                     *             "version": "node-llama-cpp 3.22.1, cuda"
                     *           }
                     *         ],
                     *         "load": {
                     *           "slots": 4,
                     *           "slots_busy": 1,
                     *           "cpu": 0.21,
                     *           "gpu": 0.87,
                     *           "free_ram_mb": 24000,
                     *           "free_vram_mb": 9800,
                     *           "temperature_c": 61
                     *         },
                     *         "loaded": [
                     *           "tiny-chat"
                     *         ],
                     *         "loading": [],
                     *         "downloads": [
                     *           {
                     *             "cargo": "phi-4",
                     *             "fraction": 0.5,
                     *             "received_bytes": 4500000000,
                     *             "total_bytes": 9000000000,
                     *             "bytes_per_second": 40000000
                     *           }
                     *         ],
                     *         "running": [
                     *           {
                     *             "cargo": "tiny-chat",
                     *             "since": "2026-01-01T12:00:01.250Z"
                     *           }
                     *         ],
                     *         "first_seen_at": "2026-01-01T12:00:00.000Z",
                     *         "last_seen_at": "2026-01-01T12:00:01.250Z",
                     *         "uptime": {
                     *           "today": 1,
                     *           "days_7": 0.98,
                     *           "days_30": 0.91
                     *         },
                     *         "jobs": {
                     *           "completed": 812,
                     *           "failed": 3,
                     *           "cancelled": 20,
                     *           "timeout": 1,
                     *           "retried": 2
                     *         },
                     *         "tokens": 143210,
                     *         "earned": {
                     *           "today": 4.5,
                     *           "days_7": 31.05,
                     *           "days_30": 118.35
                     *         },
                     *         "days": [
                     *           {
                     *             "day": "2026-01-01",
                     *             "uptime": 1,
                     *             "jobs": {
                     *               "completed": 31,
                     *               "failed": 0,
                     *               "cancelled": 1,
                     *               "timeout": 0,
                     *               "retried": 0
                     *             },
                     *             "tokens": 5200,
                     *             "earned": 4.5
                     *           }
                     *         ],
                     *         "cached_cargos": [
                     *           "tiny-chat"
                     *         ],
                     *         "cached_models": [
                     *           "hf:ggml-org/tiny:tiny.gguf"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["IslandDetail"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    removeIsland: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *         "removed": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            id: string;
                            /** @enum {boolean} */
                            removed: true;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    renameIsland: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "garage"
                 *     }
                 */
                "application/json": components["schemas"]["RenameIsland"];
            };
        };
        responses: {
            /** @description The Island */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *         "name": "garage",
                     *         "status": "online",
                     *         "is_live": true,
                     *         "suspended_because": null,
                     *         "agent_version": "0.1.0",
                     *         "hardware": {
                     *           "platform": "linux",
                     *           "arch": "x64",
                     *           "os_name": "Debian GNU/Linux 12",
                     *           "cpu_model": "AMD Ryzen 7 7700",
                     *           "logical_cores": 16,
                     *           "physical_cores": 8,
                     *           "ram_mb": 32000,
                     *           "gpus": [
                     *             {
                     *               "vendor": "NVIDIA",
                     *               "name": "RTX 4070",
                     *               "vram_mb": 12282,
                     *               "unified_memory": false,
                     *               "driver": "550.90"
                     *             }
                     *           ],
                     *           "disk_free_mb": 210000,
                     *           "disk_budget_mb": 51200
                     *         },
                     *         "runtimes": [
                     *           {
                     *             "type": "llmcpp",
                     *             "version": "node-llama-cpp 3.22.1, cuda"
                     *           }
                     *         ],
                     *         "load": {
                     *           "slots": 4,
                     *           "slots_busy": 1,
                     *           "cpu": 0.21,
                     *           "gpu": 0.87,
                     *           "free_ram_mb": 24000,
                     *           "free_vram_mb": 9800,
                     *           "temperature_c": 61
                     *         },
                     *         "loaded": [
                     *           "tiny-chat"
                     *         ],
                     *         "loading": [],
                     *         "downloads": [
                     *           {
                     *             "cargo": "phi-4",
                     *             "fraction": 0.5,
                     *             "received_bytes": 4500000000,
                     *             "total_bytes": 9000000000,
                     *             "bytes_per_second": 40000000
                     *           }
                     *         ],
                     *         "running": [
                     *           {
                     *             "cargo": "tiny-chat",
                     *             "since": "2026-01-01T12:00:01.250Z"
                     *           }
                     *         ],
                     *         "first_seen_at": "2026-01-01T12:00:00.000Z",
                     *         "last_seen_at": "2026-01-01T12:00:01.250Z",
                     *         "uptime": {
                     *           "today": 1,
                     *           "days_7": 0.98,
                     *           "days_30": 0.91
                     *         },
                     *         "jobs": {
                     *           "completed": 812,
                     *           "failed": 3,
                     *           "cancelled": 20,
                     *           "timeout": 1,
                     *           "retried": 2
                     *         },
                     *         "tokens": 143210,
                     *         "earned": {
                     *           "today": 4.5,
                     *           "days_7": 31.05,
                     *           "days_30": 118.35
                     *         },
                     *         "days": [
                     *           {
                     *             "day": "2026-01-01",
                     *             "uptime": 1,
                     *             "jobs": {
                     *               "completed": 31,
                     *               "failed": 0,
                     *               "cancelled": 1,
                     *               "timeout": 0,
                     *               "retried": 0
                     *             },
                     *             "tokens": 5200,
                     *             "earned": 4.5
                     *           }
                     *         ],
                     *         "cached_cargos": [
                     *           "tiny-chat"
                     *         ],
                     *         "cached_models": [
                     *           "hf:ggml-org/tiny:tiny.gguf"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["IslandDetail"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    listJobs: {
        parameters: {
            query?: {
                /** @description Id of a batch; lists only its jobs */
                batch?: string;
                limit?: number;
                offset?: number;
                /** @description Comma-separated list of pending, queued, running, completed, failed, cancelled, timeout */
                status?: string;
                /** @description Cargo slug */
                workload?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Jobs */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "job_01JGFJJZ00000000000000000A",
                     *           "workload_slug": "tiny-chat",
                     *           "status": "completed",
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "completed_at": "2026-01-01T12:00:01.250Z",
                     *           "batch_id": null,
                     *           "workload_id": 7,
                     *           "input": {
                     *             "prompt": "Count to 3.",
                     *             "max_tokens": 64,
                     *             "temperature": 0
                     *           }
                     *         }
                     *       ],
                     *       "meta": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0
                     *       }
                     *     }
                     */
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
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    submitJob: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "workload": "tiny-chat",
                 *       "input": {
                 *         "prompt": "Count to 3.",
                 *         "max_tokens": 64,
                 *         "temperature": 0
                 *       },
                 *       "priority": 10
                 *     }
                 */
                "application/json": components["schemas"]["SubmitJob"];
            };
        };
        responses: {
            /** @description The job is durable and its price is held */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "job_01JGFJJZ00000000000000000A",
                     *         "workload_id": 7,
                     *         "workload_slug": "tiny-chat",
                     *         "status": "submitted",
                     *         "input": {
                     *           "prompt": "Count to 3.",
                     *           "max_tokens": 64,
                     *           "temperature": 0
                     *         },
                     *         "created_at": "2026-01-01T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["SubmittedJob"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            402: components["responses"]["Error402"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    getJob: {
        parameters: {
            query?: {
                wait?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "job_01JGFJJZ00000000000000000A",
                     *         "workload_id": 7,
                     *         "workload_slug": "tiny-chat",
                     *         "status": "completed",
                     *         "priority": 10,
                     *         "input_removed_at": null,
                     *         "output_removed_at": null,
                     *         "output": "1, 2, 3.",
                     *         "usage": {
                     *           "prompt_tokens": 11,
                     *           "completion_tokens": 13,
                     *           "total_tokens": 24,
                     *           "credits_used": 1.5
                     *         },
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "started_at": "2026-01-01T12:00:00.000Z",
                     *         "completed_at": "2026-01-01T12:00:01.250Z",
                     *         "duration_ms": 1250,
                     *         "finish_reason": "stop",
                     *         "error": null,
                     *         "attempts": 1,
                     *         "island_id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *         "timings": {
                     *           "load_ms": 0,
                     *           "first_output_ms": 85.5,
                     *           "run_ms": 1201.25
                     *         },
                     *         "batch_id": null,
                     *         "ignored": [],
                     *         "input": {
                     *           "prompt": "Count to 3.",
                     *           "max_tokens": 64,
                     *           "temperature": 0
                     *         },
                     *         "waiting": null,
                     *         "webhook": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Job"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    cancelJob: {
        parameters: {
            query?: {
                /** @description refuse: 422 job_not_cancellable for a job that has ended, which keeps its content */
                if_ended?: "delete" | "refuse";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancelled or deleted */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "job_01JGFJJZ00000000000000000A",
                     *         "status": "cancelled"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            id: string;
                            /** @enum {string} */
                            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled" | "timeout" | "deleted";
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    getJobOutput: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The output so far */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "job_01JGFJJZ00000000000000000A",
                     *         "workload_slug": "tiny-chat",
                     *         "status": "running",
                     *         "output": "1, 2",
                     *         "is_complete": false,
                     *         "tokens": 4,
                     *         "progress": null,
                     *         "usage": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["JobOutput"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            410: components["responses"]["Error410"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    streamJob: {
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
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events; the data of each is a JobEvent */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["JobEvent"];
                };
            };
            /** @description The job has no events after that id */
            204: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            410: components["responses"]["Error410"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    submitBatch: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "workload": "tiny-chat",
                 *       "inputs": [
                 *         {
                 *           "prompt": "Count to 3."
                 *         },
                 *         {
                 *           "prompt": "Count to 5."
                 *         }
                 *       ],
                 *       "fail_mode": "best_effort"
                 *     }
                 */
                "application/json": components["schemas"]["SubmitBatch"];
            };
        };
        responses: {
            /** @description All jobs are durable and their prices are held */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "batch_01JGFJJZ00000000000000000B",
                     *         "workload_id": 7,
                     *         "workload_slug": "tiny-chat",
                     *         "status": "pending",
                     *         "fail_mode": "best_effort",
                     *         "priority": 0,
                     *         "counts": {
                     *           "pending": 2,
                     *           "queued": 0,
                     *           "running": 0,
                     *           "completed": 0,
                     *           "failed": 0,
                     *           "cancelled": 0,
                     *           "timeout": 0,
                     *           "total": 2
                     *         },
                     *         "jobs": [
                     *           {
                     *             "id": "job_01JGFJJZ00000000000000000A",
                     *             "status": "pending"
                     *           },
                     *           {
                     *             "id": "job_01JGFJJZ00000000000000000C",
                     *             "status": "pending"
                     *           }
                     *         ],
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "completed_at": null,
                     *         "webhook": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["SubmittedBatch"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            402: components["responses"]["Error402"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    getBatch: {
        parameters: {
            query?: {
                include?: "output";
                /** @description Place of the first job with its output */
                output_offset?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The batch */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "batch_01JGFJJZ00000000000000000B",
                     *         "workload_id": 7,
                     *         "workload_slug": "tiny-chat",
                     *         "status": "running",
                     *         "fail_mode": "best_effort",
                     *         "priority": 0,
                     *         "counts": {
                     *           "pending": 0,
                     *           "queued": 0,
                     *           "running": 1,
                     *           "completed": 1,
                     *           "failed": 0,
                     *           "cancelled": 0,
                     *           "timeout": 0,
                     *           "total": 2
                     *         },
                     *         "jobs": [
                     *           {
                     *             "id": "job_01JGFJJZ00000000000000000A",
                     *             "status": "completed",
                     *             "output": "1, 2, 3.",
                     *             "error": null
                     *           },
                     *           {
                     *             "id": "job_01JGFJJZ00000000000000000C",
                     *             "status": "running",
                     *             "output": null,
                     *             "error": null
                     *           }
                     *         ],
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "completed_at": null,
                     *         "webhook": null,
                     *         "next_output_offset": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Batch"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    cancelBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancelled */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "batch_01JGFJJZ00000000000000000B",
                     *         "workload_id": 7,
                     *         "workload_slug": "tiny-chat",
                     *         "status": "cancelled",
                     *         "fail_mode": "best_effort",
                     *         "priority": 0,
                     *         "counts": {
                     *           "pending": 0,
                     *           "queued": 0,
                     *           "running": 0,
                     *           "completed": 0,
                     *           "failed": 0,
                     *           "cancelled": 2,
                     *           "timeout": 0,
                     *           "total": 2
                     *         },
                     *         "jobs": [
                     *           {
                     *             "id": "job_01JGFJJZ00000000000000000A",
                     *             "status": "cancelled"
                     *           },
                     *           {
                     *             "id": "job_01JGFJJZ00000000000000000C",
                     *             "status": "cancelled"
                     *           }
                     *         ],
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "completed_at": "2026-01-01T12:00:01.250Z",
                     *         "webhook": null
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Batch"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    createMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "tiny-chat",
                 *       "max_tokens": 20,
                 *       "messages": [
                 *         {
                 *           "role": "user",
                 *           "content": "What is 7 plus 8?"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["MessageRequest"];
            };
        };
        responses: {
            /** @description The message, or with `stream` its events as Server-Sent Events */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "job_01M80NFE2BATGX5PX4TK97HXWA",
                     *       "type": "message",
                     *       "role": "assistant",
                     *       "model": "tiny-chat",
                     *       "content": [
                     *         {
                     *           "type": "text",
                     *           "text": "15"
                     *         }
                     *       ],
                     *       "stop_reason": "end_turn",
                     *       "stop_sequence": null,
                     *       "usage": {
                     *         "input_tokens": 17,
                     *         "output_tokens": 2,
                     *         "cache_creation_input_tokens": null,
                     *         "cache_read_input_tokens": null,
                     *         "cost": 1.5
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AnthropicMessage"];
                    "text/event-stream": components["schemas"]["AnthropicMessageEvent"];
                };
            };
            400: components["responses"]["AnthropicError400"];
            401: components["responses"]["AnthropicError401"];
            402: components["responses"]["AnthropicError402"];
            403: components["responses"]["AnthropicError403"];
            404: components["responses"]["AnthropicError404"];
            409: components["responses"]["AnthropicError409"];
            413: components["responses"]["AnthropicError413"];
            422: components["responses"]["AnthropicError422"];
            429: components["responses"]["AnthropicError429"];
            500: components["responses"]["AnthropicError500"];
            503: components["responses"]["AnthropicError503"];
        };
    };
    countMessageTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "tiny-chat",
                 *       "messages": [
                 *         {
                 *           "role": "user",
                 *           "content": "What is 7 plus 8?"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CountTokensRequest"];
            };
        };
        responses: {
            /** @description The tokens */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "input_tokens": 17
                     *     }
                     */
                    "application/json": components["schemas"]["CountedTokens"];
                };
            };
            400: components["responses"]["AnthropicError400"];
            401: components["responses"]["AnthropicError401"];
            402: components["responses"]["AnthropicError402"];
            403: components["responses"]["AnthropicError403"];
            404: components["responses"]["AnthropicError404"];
            409: components["responses"]["AnthropicError409"];
            413: components["responses"]["AnthropicError413"];
            422: components["responses"]["AnthropicError422"];
            429: components["responses"]["AnthropicError429"];
            500: components["responses"]["AnthropicError500"];
            503: components["responses"]["AnthropicError503"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Prometheus text format */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Error401"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    listModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Models */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "object": "list",
                     *       "data": [
                     *         {
                     *           "id": "tiny-chat",
                     *           "object": "model",
                     *           "created": 1789000000,
                     *           "owned_by": "atoll",
                     *           "type": "chat",
                     *           "capabilities": [
                     *             "/chat/completions",
                     *             "/completions",
                     *             "/messages",
                     *             "/responses"
                     *           ],
                     *           "alias_of": null,
                     *           "is_default": true,
                     *           "available": true,
                     *           "ready": true,
                     *           "free": 2,
                     *           "pricing": {
                     *             "per_job": 1.5,
                     *             "unit": "credits"
                     *           },
                     *           "context_length": 512,
                     *           "max_output_tokens": 512,
                     *           "tokens_per_second": 41.5,
                     *           "first_token_ms": 230,
                     *           "tool_calls": "grammar",
                     *           "reasoning": false
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Model"][];
                        /** @enum {string} */
                        object: "list";
                    };
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
        };
    };
    getModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "tiny-chat",
                     *       "object": "model",
                     *       "created": 1789000000,
                     *       "owned_by": "atoll",
                     *       "type": "chat",
                     *       "capabilities": [
                     *         "/chat/completions",
                     *         "/completions",
                     *         "/messages",
                     *         "/responses"
                     *       ],
                     *       "alias_of": null,
                     *       "is_default": true,
                     *       "available": true,
                     *       "ready": true,
                     *       "free": 2,
                     *       "pricing": {
                     *         "per_job": 1.5,
                     *         "unit": "credits"
                     *       },
                     *       "context_length": 512,
                     *       "max_output_tokens": 512,
                     *       "tokens_per_second": 41.5,
                     *       "first_token_ms": 230,
                     *       "tool_calls": "grammar",
                     *       "reasoning": false
                     *     }
                     */
                    "application/json": components["schemas"]["Model"];
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
        };
    };
    createModeration: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "toxic-bert",
                 *       "input": "You are a fool."
                 *     }
                 */
                "application/json": components["schemas"]["ModerationRequest"];
            };
        };
        responses: {
            /** @description One result for each text, in the same order */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "job_01JGFJJZ00000000000000000A",
                     *       "model": "toxic-bert",
                     *       "results": [
                     *         {
                     *           "flagged": true,
                     *           "categories": {
                     *             "harassment": true,
                     *             "harassment/threatening": false,
                     *             "hate": false,
                     *             "hate/threatening": false,
                     *             "illicit": false,
                     *             "illicit/violent": false,
                     *             "self-harm": false,
                     *             "self-harm/instructions": false,
                     *             "self-harm/intent": false,
                     *             "sexual": false,
                     *             "sexual/minors": false,
                     *             "violence": false,
                     *             "violence/graphic": false
                     *           },
                     *           "category_scores": {
                     *             "harassment": 0.98,
                     *             "harassment/threatening": 0,
                     *             "hate": 0,
                     *             "hate/threatening": 0,
                     *             "illicit": 0,
                     *             "illicit/violent": 0,
                     *             "self-harm": 0,
                     *             "self-harm/instructions": 0,
                     *             "self-harm/intent": 0,
                     *             "sexual": 0,
                     *             "sexual/minors": 0,
                     *             "violence": 0,
                     *             "violence/graphic": 0
                     *           },
                     *           "category_applied_input_types": {
                     *             "harassment": [
                     *               "text"
                     *             ],
                     *             "harassment/threatening": [],
                     *             "hate": [],
                     *             "hate/threatening": [],
                     *             "illicit": [],
                     *             "illicit/violent": [],
                     *             "self-harm": [],
                     *             "self-harm/instructions": [],
                     *             "self-harm/intent": [],
                     *             "sexual": [],
                     *             "sexual/minors": [],
                     *             "violence": [],
                     *             "violence/graphic": []
                     *           },
                     *           "labels": [
                     *             {
                     *               "label": "toxic",
                     *               "score": 0.98
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Moderation"];
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            402: components["responses"]["OpenAiError402"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    getNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The network */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "islands_online": 12,
                     *         "cargos": [
                     *           {
                     *             "slug": "tiny-chat",
                     *             "islands": 9,
                     *             "ready": 3,
                     *             "free": 5
                     *           }
                     *         ],
                     *         "registration": "open",
                     *         "new_account_credits": 10,
                     *         "is_complete": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Network"];
                    };
                };
            };
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                role?: "user" | "operator";
                /** @description Part of the e-mail address, or the whole id */
                search?: string;
                suspended?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of accounts */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "user_01JGFJJZ00000000000000000G",
                     *           "email": "ada@example.com",
                     *           "role": "user",
                     *           "credits": 9998.5,
                     *           "held": 1.5,
                     *           "unfinished_jobs": 1,
                     *           "islands": 2,
                     *           "suspended": null,
                     *           "created_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0
                     *       }
                     *     }
                     */
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
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    getKnownAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "user_01JGFJJZ00000000000000000G",
                     *         "email": "ada@example.com",
                     *         "role": "user",
                     *         "credits": 9998.5,
                     *         "held": 1.5,
                     *         "unfinished_jobs": 1,
                     *         "islands": 2,
                     *         "suspended": null,
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "limits": {
                     *           "requests_per_minute": 100,
                     *           "concurrent_jobs": 10,
                     *           "concurrent_streams": 5,
                     *           "share": 100
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["KnownAccountDetail"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    grantCredits: {
        parameters: {
            query?: never;
            header?: {
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "credits": 500,
                 *       "note": "For the workshop"
                 *     }
                 */
                "application/json": components["schemas"]["GrantCredits"];
            };
        };
        responses: {
            /** @description The account's credits now */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "user_01JGFJJZ00000000000000000G",
                     *         "credits": 10498.5
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @description Credits, with up to 6 decimals */
                            credits: number;
                            id: string;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    setAccountLimits: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "concurrent_jobs": 50,
                 *       "share": null
                 *     }
                 */
                "application/json": components["schemas"]["SetAccountLimits"];
            };
        };
        responses: {
            /** @description The limits in force */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "requests_per_minute": 100,
                     *         "concurrent_jobs": 50,
                     *         "concurrent_streams": 5,
                     *         "share": 100
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["AccountLimits"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    suspendAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "Sends spam"
                 *     }
                 */
                "application/json": components["schemas"]["Suspend"];
            };
        };
        responses: {
            /** @description The account */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "user_01JGFJJZ00000000000000000G",
                     *         "email": "ada@example.com",
                     *         "role": "user",
                     *         "credits": 9998.5,
                     *         "held": 1.5,
                     *         "unfinished_jobs": 1,
                     *         "islands": 2,
                     *         "suspended": {
                     *           "reason": "Sends spam",
                     *           "since": "2026-01-01T12:00:01.250Z"
                     *         },
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "limits": {
                     *           "requests_per_minute": 100,
                     *           "concurrent_jobs": 10,
                     *           "concurrent_streams": 5,
                     *           "share": 100
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["KnownAccountDetail"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    reinstateAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "user_01JGFJJZ00000000000000000G",
                     *         "email": "ada@example.com",
                     *         "role": "user",
                     *         "credits": 9998.5,
                     *         "held": 1.5,
                     *         "unfinished_jobs": 1,
                     *         "islands": 2,
                     *         "suspended": null,
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "limits": {
                     *           "requests_per_minute": 100,
                     *           "concurrent_jobs": 10,
                     *           "concurrent_streams": 5,
                     *           "share": 100
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["KnownAccountDetail"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    addAnnouncement: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "level": "warning",
                 *       "text": "Maintenance at 22:00 UTC",
                 *       "until": "2026-01-02T00:00:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["AddAnnouncement"];
            };
        };
        responses: {
            /** @description The announcement */
            201: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "ann_01JGFJJZ00000000000000000N",
                     *         "level": "warning",
                     *         "text": "Maintenance at 22:00 UTC",
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "until": "2026-01-02T00:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Announcement"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    removeAnnouncement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "ann_01JGFJJZ00000000000000000N",
                     *         "removed": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            id: string;
                            /** @enum {boolean} */
                            removed: true;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                action?: string;
                actor?: string;
                limit?: number;
                offset?: number;
                /** @description Id of what was acted on */
                target?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of the log */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": 41,
                     *           "at": "2026-01-01T12:00:01.250Z",
                     *           "via": "api",
                     *           "actor": "user_01JGFJJZ00000000000000000R",
                     *           "actor_email": "operator@example.com",
                     *           "origin": "192.0.2.7",
                     *           "action": "account.suspend",
                     *           "target": {
                     *             "kind": "account",
                     *             "id": "user_01JGFJJZ00000000000000000G"
                     *           },
                     *           "before": null,
                     *           "after": {
                     *             "because": "Sends spam"
                     *           }
                     *         }
                     *       ],
                     *       "meta": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0
                     *       }
                     *     }
                     */
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
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    listNetworkCargos: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                /** @description waiting: those that wait for an approval */
                status?: "offered" | "waiting" | "unpinned" | "off" | "disabled" | "hidden";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of Cargos */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "slug": "my-words",
                     *           "runtime_type": "container",
                     *           "status": "waiting",
                     *           "origin": "owned",
                     *           "owner_id": "user_01JGFJJZ00000000000000000G",
                     *           "owner_email": "ada@example.com",
                     *           "pinned": false,
                     *           "price_per_job": 0.05,
                     *           "shipped_price_per_job": null
                     *         }
                     *       ],
                     *       "meta": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0
                     *       }
                     *     }
                     */
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
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    getCargoReview: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Cargo under review */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "slug": "my-words",
                     *         "name": "Words",
                     *         "description": "Counts words",
                     *         "status": "waiting",
                     *         "origin": "owned",
                     *         "owner_id": "user_01JGFJJZ00000000000000000G",
                     *         "owner_email": "ada@example.com",
                     *         "revision": "0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e",
                     *         "pin": {
                     *           "kind": "image_digest",
                     *           "value": "sha256:a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2"
                     *         },
                     *         "approval": null,
                     *         "price_per_job": 0.05,
                     *         "shipped_price_per_job": null,
                     *         "signs": {
                     *           "runtime_type": "container",
                     *           "image": "docker.io/ada/words:1",
                     *           "image_digest": "sha256:a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2",
                     *           "command": [
                     *             "words"
                     *           ],
                     *           "network": false,
                     *           "gpu": false,
                     *           "model_url": null,
                     *           "model_hash": null,
                     *           "model_commit": null,
                     *           "model_bytes": null,
                     *           "args": null,
                     *           "required_ram_mb": 256,
                     *           "required_vram_mb": 0,
                     *           "price_per_job": 0.1
                     *         },
                     *         "cargo": {
                     *           "slug": "my-words",
                     *           "name": "Words",
                     *           "description": "Counts words",
                     *           "runtime_type": "container"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["CargoReview"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    setCargoPrice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "price_per_job": 0.05
                 *     }
                 */
                "application/json": components["schemas"]["SetCargoPrice"];
            };
        };
        responses: {
            /** @description The Cargo with its price */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "slug": "my-words",
                     *         "name": "Words",
                     *         "description": "Counts words",
                     *         "status": "waiting",
                     *         "origin": "owned",
                     *         "owner_id": "user_01JGFJJZ00000000000000000G",
                     *         "owner_email": "ada@example.com",
                     *         "revision": "0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e",
                     *         "pin": {
                     *           "kind": "image_digest",
                     *           "value": "sha256:a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2"
                     *         },
                     *         "approval": null,
                     *         "price_per_job": 0.05,
                     *         "shipped_price_per_job": null,
                     *         "signs": {
                     *           "runtime_type": "container",
                     *           "image": "docker.io/ada/words:1",
                     *           "image_digest": "sha256:a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2",
                     *           "command": [
                     *             "words"
                     *           ],
                     *           "network": false,
                     *           "gpu": false,
                     *           "model_url": null,
                     *           "model_hash": null,
                     *           "model_commit": null,
                     *           "model_bytes": null,
                     *           "args": null,
                     *           "required_ram_mb": 256,
                     *           "required_vram_mb": 0,
                     *           "price_per_job": 0.1
                     *         },
                     *         "cargo": {
                     *           "slug": "my-words",
                     *           "name": "Words",
                     *           "description": "Counts words",
                     *           "runtime_type": "container"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["CargoReview"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    approveCargo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "revision": "0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e",
                 *       "image_digest": "sha256:a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2"
                 *     }
                 */
                "application/json": components["schemas"]["ApproveCargo"];
            };
        };
        responses: {
            /** @description Approved */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "slug": "my-words",
                     *         "revision": "0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e",
                     *         "approved": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @enum {boolean} */
                            approved: true;
                            revision: string;
                            slug: string;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    disableCargo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "slug": "my-words",
                     *         "disabled": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            disabled: boolean;
                            slug: string;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    enableCargo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "slug": "my-words",
                     *         "disabled": false
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            disabled: boolean;
                            slug: string;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    reviewCargo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["CargoPins"];
            };
        };
        responses: {
            /** @description The Cargo under review, pinned */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "slug": "my-words",
                     *         "name": "Words",
                     *         "description": "Counts words",
                     *         "status": "waiting",
                     *         "origin": "owned",
                     *         "owner_id": "user_01JGFJJZ00000000000000000G",
                     *         "owner_email": "ada@example.com",
                     *         "revision": "0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e0f1e",
                     *         "pin": {
                     *           "kind": "image_digest",
                     *           "value": "sha256:a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2"
                     *         },
                     *         "approval": null,
                     *         "price_per_job": 0.05,
                     *         "shipped_price_per_job": null,
                     *         "signs": {
                     *           "runtime_type": "container",
                     *           "image": "docker.io/ada/words:1",
                     *           "image_digest": "sha256:a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2",
                     *           "command": [
                     *             "words"
                     *           ],
                     *           "network": false,
                     *           "gpu": false,
                     *           "model_url": null,
                     *           "model_hash": null,
                     *           "model_commit": null,
                     *           "model_bytes": null,
                     *           "args": null,
                     *           "required_ram_mb": 256,
                     *           "required_vram_mb": 0,
                     *           "price_per_job": 0.1
                     *         },
                     *         "cargo": {
                     *           "slug": "my-words",
                     *           "name": "Words",
                     *           "description": "Counts words",
                     *           "runtime_type": "container"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["CargoReview"];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    listNetworkIslands: {
        parameters: {
            query?: {
                /** @description Id of an account */
                account?: string;
                limit?: number;
                offset?: number;
                /** @description Beginning of the id, or part of a name */
                search?: string;
                /** @description online: seen within the last 150 s, so that one that has just left is still among them */
                status?: "online" | "offline" | "suspended";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of Islands */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *           "name": "garage",
                     *           "status": "online",
                     *           "is_live": true,
                     *           "suspended_because": null,
                     *           "agent_version": "0.1.0",
                     *           "hardware": {
                     *             "platform": "linux",
                     *             "arch": "x64",
                     *             "os_name": "Debian GNU/Linux 12",
                     *             "cpu_model": "AMD Ryzen 7 7700",
                     *             "logical_cores": 16,
                     *             "physical_cores": 8,
                     *             "ram_mb": 32000,
                     *             "gpus": [
                     *               {
                     *                 "vendor": "NVIDIA",
                     *                 "name": "RTX 4070",
                     *                 "vram_mb": 12282,
                     *                 "unified_memory": false,
                     *                 "driver": "550.90"
                     *               }
                     *             ],
                     *             "disk_free_mb": 210000,
                     *             "disk_budget_mb": 51200
                     *           },
                     *           "runtimes": [
                     *             {
                     *               "type": "llmcpp",
                     *               "version": "node-llama-cpp 3.22.1, cuda"
                     *             }
                     *           ],
                     *           "load": {
                     *             "slots": 4,
                     *             "slots_busy": 1,
                     *             "cpu": 0.21,
                     *             "gpu": 0.87,
                     *             "free_ram_mb": 24000,
                     *             "free_vram_mb": 9800,
                     *             "temperature_c": 61
                     *           },
                     *           "loaded": [
                     *             "tiny-chat"
                     *           ],
                     *           "loading": [],
                     *           "downloads": [
                     *             {
                     *               "cargo": "phi-4",
                     *               "fraction": 0.5,
                     *               "received_bytes": 4500000000,
                     *               "total_bytes": 9000000000,
                     *               "bytes_per_second": 40000000
                     *             }
                     *           ],
                     *           "running": [
                     *             {
                     *               "cargo": "tiny-chat",
                     *               "since": "2026-01-01T12:00:01.250Z"
                     *             }
                     *           ],
                     *           "first_seen_at": "2026-01-01T12:00:00.000Z",
                     *           "last_seen_at": "2026-01-01T12:00:01.250Z",
                     *           "account_id": "user_01JGFJJZ00000000000000000G",
                     *           "account_email": "ada@example.com"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0
                     *       }
                     *     }
                     */
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
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    getNetworkIsland: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Island */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *         "name": "garage",
                     *         "status": "online",
                     *         "is_live": true,
                     *         "suspended_because": null,
                     *         "agent_version": "0.1.0",
                     *         "hardware": {
                     *           "platform": "linux",
                     *           "arch": "x64",
                     *           "os_name": "Debian GNU/Linux 12",
                     *           "cpu_model": "AMD Ryzen 7 7700",
                     *           "logical_cores": 16,
                     *           "physical_cores": 8,
                     *           "ram_mb": 32000,
                     *           "gpus": [
                     *             {
                     *               "vendor": "NVIDIA",
                     *               "name": "RTX 4070",
                     *               "vram_mb": 12282,
                     *               "unified_memory": false,
                     *               "driver": "550.90"
                     *             }
                     *           ],
                     *           "disk_free_mb": 210000,
                     *           "disk_budget_mb": 51200
                     *         },
                     *         "runtimes": [
                     *           {
                     *             "type": "llmcpp",
                     *             "version": "node-llama-cpp 3.22.1, cuda"
                     *           }
                     *         ],
                     *         "load": {
                     *           "slots": 4,
                     *           "slots_busy": 1,
                     *           "cpu": 0.21,
                     *           "gpu": 0.87,
                     *           "free_ram_mb": 24000,
                     *           "free_vram_mb": 9800,
                     *           "temperature_c": 61
                     *         },
                     *         "loaded": [
                     *           "tiny-chat"
                     *         ],
                     *         "loading": [],
                     *         "downloads": [
                     *           {
                     *             "cargo": "phi-4",
                     *             "fraction": 0.5,
                     *             "received_bytes": 4500000000,
                     *             "total_bytes": 9000000000,
                     *             "bytes_per_second": 40000000
                     *           }
                     *         ],
                     *         "running": [
                     *           {
                     *             "cargo": "tiny-chat",
                     *             "since": "2026-01-01T12:00:01.250Z"
                     *           }
                     *         ],
                     *         "first_seen_at": "2026-01-01T12:00:00.000Z",
                     *         "last_seen_at": "2026-01-01T12:00:01.250Z",
                     *         "uptime": {
                     *           "today": 1,
                     *           "days_7": 0.98,
                     *           "days_30": 0.91
                     *         },
                     *         "jobs": {
                     *           "completed": 812,
                     *           "failed": 3,
                     *           "cancelled": 20,
                     *           "timeout": 1,
                     *           "retried": 2
                     *         },
                     *         "tokens": 143210,
                     *         "earned": {
                     *           "today": 4.5,
                     *           "days_7": 31.05,
                     *           "days_30": 118.35
                     *         },
                     *         "days": [
                     *           {
                     *             "day": "2026-01-01",
                     *             "uptime": 1,
                     *             "jobs": {
                     *               "completed": 31,
                     *               "failed": 0,
                     *               "cancelled": 1,
                     *               "timeout": 0,
                     *               "retried": 0
                     *             },
                     *             "tokens": 5200,
                     *             "earned": 4.5
                     *           }
                     *         ],
                     *         "cached_cargos": [
                     *           "tiny-chat"
                     *         ],
                     *         "cached_models": [
                     *           "hf:ggml-org/tiny:tiny.gguf"
                     *         ],
                     *         "account_id": "user_01JGFJJZ00000000000000000G",
                     *         "account_email": "ada@example.com"
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["KnownIslandDetail"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    suspendIsland: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "Returns wrong results"
                 *     }
                 */
                "application/json": components["schemas"]["Suspend"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *         "suspended": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            id: string;
                            suspended: boolean;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    reinstateIsland: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *         "suspended": false
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            id: string;
                            suspended: boolean;
                        };
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    listNetworkJobs: {
        parameters: {
            query?: {
                /** @description Id of an account */
                account?: string;
                /** @description Id of an Island */
                island?: string;
                limit?: number;
                offset?: number;
                /** @description Comma-separated list of pending, queued, running, completed, failed, cancelled, timeout */
                status?: string;
                /** @description Cargo slug */
                workload?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of jobs */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "job_01JGFJJZ00000000000000000A",
                     *           "account_id": "user_01JGFJJZ00000000000000000G",
                     *           "account_email": "ada@example.com",
                     *           "batch_id": null,
                     *           "workload_slug": "tiny-chat",
                     *           "status": "completed",
                     *           "chat": true,
                     *           "priority": 0,
                     *           "attempts": 1,
                     *           "island_id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                     *           "error_code": null,
                     *           "prompt_tokens": 12,
                     *           "completion_tokens": 78,
                     *           "price": 1.5,
                     *           "credits_used": 1.35,
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "started_at": "2026-01-01T12:00:00.000Z",
                     *           "completed_at": "2026-01-01T12:00:01.250Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "total": 1,
                     *         "limit": 20,
                     *         "offset": 0
                     *       }
                     *     }
                     */
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
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    getNetworkOverview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The overview */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "islands": {
                     *           "online": 3,
                     *           "known": 11
                     *         },
                     *         "slots": {
                     *           "free": 5,
                     *           "all": 9
                     *         },
                     *         "jobs": {
                     *           "running": 4,
                     *           "waiting": 2,
                     *           "finished_last_minute": 31
                     *         },
                     *         "waiting_by_reason": [
                     *           {
                     *             "reason": "no_island_offers_runtime",
                     *             "jobs": 2
                     *           }
                     *         ],
                     *         "tokens_per_second": 211.5,
                     *         "first_token_ms": {
                     *           "p50": 145.2,
                     *           "p99": 902.1
                     *         },
                     *         "errors_last_minute": 0,
                     *         "coordinators": [
                     *           {
                     *             "id": "coord_01JGFJJZ00000000000000000C",
                     *             "address": "http://10.0.0.4:8080",
                     *             "version": "0.1.0",
                     *             "answers": true,
                     *             "islands": 3,
                     *             "slots": {
                     *               "free": 5,
                     *               "all": 9
                     *             },
                     *             "jobs": {
                     *               "running": 4,
                     *               "waiting": 2
                     *             }
                     *           }
                     *         ],
                     *         "is_complete": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["NetworkOverview"];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    getNetworkQueue: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The queue; each coordinator tells of the 256 kinds of which most wait */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "workload_slug": "sdxl",
                     *           "only_islands_of": null,
                     *           "jobs": 2,
                     *           "reason": "no_island_offers_runtime",
                     *           "message": "no online Island offers diffusers",
                     *           "waiting_since": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "is_complete": true
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["QueueLine"][];
                        /** @description False: a coordinator did not answer */
                        is_complete: boolean;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    listSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All settings */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "key": "network_fee",
                     *           "value": "0.1",
                     *           "source": "default",
                     *           "default": "0.1",
                     *           "environment": "ATOLL_NETWORK_FEE",
                     *           "allowed": "a number in 0..1",
                     *           "meaning": "Share of a job's price that the network keeps; the rest goes to the Island's owner"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["SettingInForce"][];
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    createReranking: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "multilingual-e5-small",
                 *       "query": "Where do ships wait?",
                 *       "documents": [
                 *         "A reef breaks the waves.",
                 *         "Ships lie in the harbour until the tide turns."
                 *       ],
                 *       "top_n": 1,
                 *       "return_documents": true
                 *     }
                 */
                "application/json": components["schemas"]["RerankRequest"];
            };
        };
        responses: {
            /** @description The documents' numbers and scores, best first */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "job_01JGFJJZ00000000000000000A",
                     *       "object": "list",
                     *       "model": "multilingual-e5-small",
                     *       "results": [
                     *         {
                     *           "index": 1,
                     *           "relevance_score": 0.91,
                     *           "document": {
                     *             "text": "Ships lie in the harbour until the tide turns."
                     *           }
                     *         }
                     *       ],
                     *       "usage": {
                     *         "prompt_tokens": 24,
                     *         "total_tokens": 24
                     *       },
                     *       "meta": {
                     *         "tokens": {
                     *           "input_tokens": 24,
                     *           "output_tokens": 0
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Reranking"];
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            402: components["responses"]["OpenAiError402"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    createResponse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "tiny-chat",
                 *       "instructions": "You count.",
                 *       "input": "What is 7 plus 8?"
                 *     }
                 */
                "application/json": components["schemas"]["ResponseRequest"];
            };
        };
        responses: {
            /** @description The response, or with `stream` its events as Server-Sent Events */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "resp_01M80NFE2BATGX5PX4TK97HXWA",
                     *       "object": "response",
                     *       "created_at": 1767225600,
                     *       "status": "completed",
                     *       "background": false,
                     *       "error": null,
                     *       "incomplete_details": null,
                     *       "instructions": "You count.",
                     *       "max_output_tokens": null,
                     *       "metadata": {},
                     *       "model": "tiny-chat",
                     *       "output": [
                     *         {
                     *           "id": "msg_01M80NFE2BATGX5PX4TK97HXWA",
                     *           "type": "message",
                     *           "status": "completed",
                     *           "role": "assistant",
                     *           "content": [
                     *             {
                     *               "type": "output_text",
                     *               "text": "15",
                     *               "annotations": [],
                     *               "logprobs": []
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "parallel_tool_calls": true,
                     *       "previous_response_id": null,
                     *       "reasoning": {
                     *         "effort": null,
                     *         "summary": null
                     *       },
                     *       "store": true,
                     *       "temperature": null,
                     *       "text": {
                     *         "format": {
                     *           "type": "text"
                     *         }
                     *       },
                     *       "tool_choice": "auto",
                     *       "tools": [],
                     *       "top_logprobs": 0,
                     *       "top_p": null,
                     *       "truncation": "disabled",
                     *       "usage": {
                     *         "input_tokens": 17,
                     *         "input_tokens_details": {
                     *           "cached_tokens": 0,
                     *           "cache_write_tokens": 0
                     *         },
                     *         "output_tokens": 2,
                     *         "output_tokens_details": {
                     *           "reasoning_tokens": 0
                     *         },
                     *         "total_tokens": 19,
                     *         "cost": 1.5
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OpenAiResponse"];
                    "text/event-stream": components["schemas"]["OpenAiResponseEvent"];
                };
            };
            400: components["responses"]["OpenAiError400"];
            401: components["responses"]["OpenAiError401"];
            402: components["responses"]["OpenAiError402"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            409: components["responses"]["OpenAiError409"];
            413: components["responses"]["OpenAiError413"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    getResponse: {
        parameters: {
            query?: {
                stream?: "false";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response, as far as it has come */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "resp_01M80NFE2BATGX5PX4TK97HXWA",
                     *       "object": "response",
                     *       "created_at": 1767225600,
                     *       "status": "completed",
                     *       "background": false,
                     *       "error": null,
                     *       "incomplete_details": null,
                     *       "instructions": "You count.",
                     *       "max_output_tokens": null,
                     *       "metadata": {},
                     *       "model": "tiny-chat",
                     *       "output": [
                     *         {
                     *           "id": "msg_01M80NFE2BATGX5PX4TK97HXWA",
                     *           "type": "message",
                     *           "status": "completed",
                     *           "role": "assistant",
                     *           "content": [
                     *             {
                     *               "type": "output_text",
                     *               "text": "15",
                     *               "annotations": [],
                     *               "logprobs": []
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "parallel_tool_calls": true,
                     *       "previous_response_id": null,
                     *       "reasoning": {
                     *         "effort": null,
                     *         "summary": null
                     *       },
                     *       "store": true,
                     *       "temperature": null,
                     *       "text": {
                     *         "format": {
                     *           "type": "text"
                     *         }
                     *       },
                     *       "tool_choice": "auto",
                     *       "tools": [],
                     *       "top_logprobs": 0,
                     *       "top_p": null,
                     *       "truncation": "disabled",
                     *       "usage": {
                     *         "input_tokens": 17,
                     *         "input_tokens_details": {
                     *           "cached_tokens": 0,
                     *           "cache_write_tokens": 0
                     *         },
                     *         "output_tokens": 2,
                     *         "output_tokens_details": {
                     *           "reasoning_tokens": 0
                     *         },
                     *         "total_tokens": 19,
                     *         "cost": 1.5
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OpenAiResponse"];
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            410: components["responses"]["OpenAiError410"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
        };
    };
    deleteResponse: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "resp_01M80NFE2BATGX5PX4TK97HXWA",
                     *       "object": "response",
                     *       "deleted": true
                     *     }
                     */
                    "application/json": {
                        /** @enum {boolean} */
                        deleted: true;
                        id: string;
                        /** @enum {string} */
                        object: "response";
                    };
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    cancelResponse: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response as it is then */
            200: {
                headers: {
                    "Atoll-Ignored": components["headers"]["IgnoredIfKnown"];
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "resp_01M80NFE2BATGX5PX4TK97HXWA",
                     *       "object": "response",
                     *       "created_at": 1767225600,
                     *       "status": "cancelled",
                     *       "background": true,
                     *       "error": null,
                     *       "incomplete_details": null,
                     *       "instructions": "You count.",
                     *       "max_output_tokens": null,
                     *       "metadata": {},
                     *       "model": "tiny-chat",
                     *       "output": [],
                     *       "parallel_tool_calls": true,
                     *       "previous_response_id": null,
                     *       "reasoning": {
                     *         "effort": null,
                     *         "summary": null
                     *       },
                     *       "store": true,
                     *       "temperature": null,
                     *       "text": {
                     *         "format": {
                     *           "type": "text"
                     *         }
                     *       },
                     *       "tool_choice": "auto",
                     *       "tools": [],
                     *       "top_logprobs": 0,
                     *       "top_p": null,
                     *       "truncation": "disabled",
                     *       "usage": null
                     *     }
                     */
                    "application/json": components["schemas"]["OpenAiResponse"];
                };
            };
            401: components["responses"]["OpenAiError401"];
            403: components["responses"]["OpenAiError403"];
            404: components["responses"]["OpenAiError404"];
            410: components["responses"]["OpenAiError410"];
            422: components["responses"]["OpenAiError422"];
            429: components["responses"]["OpenAiError429"];
            500: components["responses"]["OpenAiError500"];
            503: components["responses"]["OpenAiError503"];
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sessions */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "ses_0f1e2d3c4b5a69788796a5b4",
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "last_used_at": "2026-01-01T12:00:00.000Z",
                     *           "expires_at": "2026-01-31T12:00:00.000Z",
                     *           "current": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["AccountSession"][];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ended */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["RateLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "ses_0f1e2d3c4b5a69788796a5b4",
                     *         "ended": true
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            /** @enum {boolean} */
                            ended: true;
                            id: string;
                        };
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    batchFinished: {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                /** @description `v1,` and the HMAC-SHA256 in base64 */
                "webhook-signature": string;
                /** @description Unix time of this try, in seconds */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "batch.finished",
                 *       "timestamp": "2026-01-01T12:00:01.250Z",
                 *       "data": {
                 *         "id": "batch_01JGFJJZ00000000000000000B",
                 *         "workload_id": 7,
                 *         "workload_slug": "tiny-chat",
                 *         "status": "completed",
                 *         "fail_mode": "best_effort",
                 *         "priority": 0,
                 *         "counts": {
                 *           "pending": 0,
                 *           "queued": 0,
                 *           "running": 0,
                 *           "completed": 2,
                 *           "failed": 0,
                 *           "cancelled": 0,
                 *           "timeout": 0,
                 *           "total": 2
                 *         },
                 *         "jobs": [
                 *           {
                 *             "id": "job_01JGFJJZ00000000000000000A",
                 *             "status": "completed"
                 *           },
                 *           {
                 *             "id": "job_01JGFJJZ00000000000000000C",
                 *             "status": "completed"
                 *           }
                 *         ],
                 *         "created_at": "2026-01-01T12:00:00.000Z",
                 *         "completed_at": "2026-01-01T12:00:01.250Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BatchWebhook"];
            };
        };
        responses: {
            /** @description Any 2xx: delivered */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Stop trying */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    jobEnded: {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                /** @description `v1,` and the HMAC-SHA256 in base64 */
                "webhook-signature": string;
                /** @description Unix time of this try, in seconds */
                "webhook-timestamp": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "job.completed",
                 *       "timestamp": "2026-01-01T12:00:01.250Z",
                 *       "data": {
                 *         "id": "job_01JGFJJZ00000000000000000A",
                 *         "workload_id": 7,
                 *         "workload_slug": "tiny-chat",
                 *         "status": "completed",
                 *         "priority": 10,
                 *         "input_removed_at": null,
                 *         "output_removed_at": null,
                 *         "output": "1, 2, 3.",
                 *         "usage": {
                 *           "prompt_tokens": 11,
                 *           "completion_tokens": 13,
                 *           "total_tokens": 24,
                 *           "credits_used": 1.5
                 *         },
                 *         "created_at": "2026-01-01T12:00:00.000Z",
                 *         "started_at": "2026-01-01T12:00:00.000Z",
                 *         "completed_at": "2026-01-01T12:00:01.250Z",
                 *         "duration_ms": 1250,
                 *         "finish_reason": "stop",
                 *         "error": null,
                 *         "attempts": 1,
                 *         "island_id": "3f0c0f5e-5b0a-4d0e-9a51-0f1f6f6f6f01",
                 *         "timings": {
                 *           "load_ms": 0,
                 *           "first_output_ms": 85.5,
                 *           "run_ms": 1201.25
                 *         },
                 *         "batch_id": null,
                 *         "ignored": [],
                 *         "output_omitted": false
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["JobWebhook"];
            };
        };
        responses: {
            /** @description Any 2xx: delivered */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Stop trying */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
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
