internal import TomboloModel

/// Functions and triggers that move objects into and out of the trash.
extension SystemFunction {
    static let trash: [SystemFunction] = [
        SystemFunction(
            name: "trash",
            parameters: "p_class text, p_key text, p_by text, p_group uuid, p_reason text DEFAULT NULL",
            result: "boolean",
            body: """

                -- Moves one object into the trash, and what belongs to it; false if it isn't there or in the trash already.
                -- The reason is for those who may list the trash.
                DECLARE
                    v_class tombolo.class%ROWTYPE;
                    v_count bigint;
                BEGIN
                \(lookUp)
                    IF octet_length(p_reason) > \(TrashReason.byteLimit) THEN
                        RAISE EXCEPTION 'the reason is longer than \(TrashReason.byteLimit) bytes'
                            USING ERRCODE = 'string_data_right_truncation', HINT = 'Say it in fewer words.';
                    END IF;
                    EXECUTE format('UPDATE public.%I SET trashed_at = clock_timestamp(), trashed_by = $2, '
                        'trash_group = $3, trash_reason = $4 WHERE %I = %s AND trashed_at IS NULL',
                        v_class.table_name, v_class.key_column, v_class.key_expression)
                        USING p_key, p_by, p_group, nullif(btrim(p_reason), '');
                    GET DIAGNOSTICS v_count = ROW_COUNT;
                    RETURN v_count > 0;
                END
                """, former: "text, text, text, uuid"),
        SystemFunction(
            name: "restore", parameters: "p_class text, p_key text", result: "boolean",
            body: objectBody(
                "Takes one object out of the trash; a unique rule that it would break is error 23505 with its name.",
                "UPDATE public.%I SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL")),
        SystemFunction(
            name: "purge", parameters: "p_class text, p_key text", result: "boolean",
            body: objectBody("Deletes one object that is in the trash, for good.", "DELETE FROM public.%I")),
        SystemFunction(
            name: "set_trashed", parameters: "p_class text, p_key text, p_column text, p_value text", result: "boolean",
            body: """

                -- Gives an object in the trash another value in a column that a unique rule is about, so that it can be
                -- restored beside a live one.
                DECLARE
                    v_class tombolo.class%ROWTYPE;
                    v_type text;
                    v_count bigint;
                BEGIN
                \(lookUp)
                    SELECT format_type(a.atttypid, a.atttypmod) INTO v_type FROM pg_attribute a
                    WHERE a.attrelid = to_regclass(format('public.%I', v_class.table_name)) AND a.attname = p_column
                        AND NOT a.attisdropped AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = a.attrelid
                            AND i.indisunique AND NOT i.indisprimary AND a.attnum = ANY (i.indkey::smallint[]));
                    IF NOT FOUND THEN
                        RAISE EXCEPTION 'no unique rule of % is about a column %', p_class, p_column
                            USING ERRCODE = 'undefined_column';
                    END IF;
                    EXECUTE format('UPDATE public.%I SET %I = $2::%s WHERE %I = %s AND trashed_at IS NOT NULL',
                        v_class.table_name, p_column, v_type, v_class.key_column, v_class.key_expression)
                        USING p_key, p_value;
                    GET DIAGNOSTICS v_count = ROW_COUNT;
                    RETURN v_count > 0;
                END
                """),
        SystemFunction(
            name: "restore_group", parameters: "p_group uuid", result: "bigint",
            body: groupBody(
                "Takes everything that was trashed together out of the trash; how many objects.",
                "UPDATE public.%I SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL "
                    + "WHERE trash_group = $1 AND trashed_at IS NOT NULL")),
        SystemFunction(
            name: "purge_group", parameters: "p_group uuid", result: "bigint",
            body: groupBody(
                "Deletes everything that was trashed together, for good; how many objects.",
                "DELETE FROM public.%I WHERE trash_group = $1 AND trashed_at IS NOT NULL")),
        SystemFunction(
            name: "kept_in_trash", parameters: "p_class text, p_key text, p_now timestamptz", result: "text",
            body: """

                -- Why an object isn't purged yet, as the app's function keep_TABLE_in_trash(text, timestamptz) says if there
                -- is one; NULL if nothing keeps it.
                DECLARE
                    v_class tombolo.class%ROWTYPE;
                    v_function text;
                    v_reason text;
                BEGIN
                \(lookUp)
                    v_function := format('tombolo.%I', 'keep_' || v_class.table_name || '_in_trash');
                    IF to_regprocedure(v_function || '(text, timestamptz)') IS NULL THEN
                        RETURN NULL;
                    END IF;
                    EXECUTE format('SELECT %s($1, $2)', v_function) INTO v_reason USING p_key, p_now;
                    RETURN v_reason;
                END
                """),
        SystemFunction(
            name: "name_trash_group", parameters: "", result: "trigger",
            body: """

                -- Gives what goes into the trash by itself a group of its own.
                BEGIN
                    NEW.trash_group := gen_random_uuid();
                    RETURN NEW;
                END
                """),
        SystemFunction(
            name: "forget_trash_reason", parameters: "", result: "trigger",
            body: """

                -- What comes out of the trash was put there for a reason that has gone.
                BEGIN
                    NEW.trash_reason := NULL;
                    RETURN NEW;
                END
                """),
        SystemFunction(
            name: "take_along", parameters: "", result: "trigger",
            body: """

                -- Takes what belongs to an object into the trash with it, whoever moved it there: the live objects of
                -- classes with a trash that link to it, those that link to these, and so on, with its time, person,
                -- group and reason. Each is taken once, so that cycles end.
                DECLARE
                    v_walk text := current_setting('tombolo.trash_walk', true);
                    v_class tombolo.class%ROWTYPE;
                    v_tables oid[] := ARRAY[TG_RELID];
                    v_keys text[];
                    v_place integer := 1;
                    v_total bigint := 0;
                    v_count bigint;
                    v_moved text;
                    v_link record;
                BEGIN
                    -- The function's own update, whose rows it looks after itself.
                    IF v_walk = (pg_trigger_depth() - 1)::text THEN
                        RETURN NULL;
                    END IF;
                    PERFORM set_config('tombolo.trash_walk', pg_trigger_depth()::text, true);
                    SELECT * INTO v_class FROM tombolo.class c WHERE c.table_name = TG_TABLE_NAME;
                    EXECUTE format('SELECT ARRAY[($1).%I]::text', v_class.key_column) INTO v_moved USING NEW;
                    v_keys := ARRAY[v_moved];
                    WHILE v_place <= cardinality(v_tables) LOOP
                        FOR v_link IN
                            SELECT DISTINCT c.id, r.oid AS relation, r.relname, a.attname, c.key_column,
                                format_type(t.atttypid, NULL) AS key_type
                            FROM pg_constraint k
                            JOIN pg_class r ON r.oid = k.conrelid AND r.relnamespace = 'public'::regnamespace
                            JOIN tombolo.class c ON c.table_name = r.relname AND c.is_trashable
                            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
                            JOIN pg_attribute t ON t.attrelid = k.confrelid AND t.attnum = k.confkey[1]
                            JOIN pg_class f ON f.oid = k.confrelid
                            JOIN tombolo.class p ON p.table_name = f.relname AND p.key_column = t.attname
                            LEFT JOIN tombolo.class_column l ON l.class = c.id AND l.sql_name = a.attname
                            WHERE k.contype = 'f' AND k.confrelid = v_tables[v_place] AND cardinality(k.conkey) = 1
                                AND k.conparentid = 0 AND coalesce(l.goes_along, true)
                            ORDER BY c.id, a.attname
                        LOOP
                            -- Locked in the order of keys, as uploads lock.
                            EXECUTE format('WITH moved AS (UPDATE public.%1$I t SET trashed_at = $1, trashed_by = $2, '
                                'trash_group = $3, trash_reason = $5 '
                                'WHERE t.trashed_at IS NULL AND t.%2$I IN (SELECT c.%2$I FROM public.%1$I c '
                                'WHERE c.%3$I = ANY ($4::%4$s[]) AND c.trashed_at IS NULL ORDER BY c.%2$I LIMIT %5$s '
                                'FOR NO KEY UPDATE) RETURNING t.%2$I AS key) SELECT count(*), array_agg(m.key)::text FROM moved m',
                                v_link.relname, v_link.key_column, v_link.attname, v_link.key_type,
                                \(TrashLimits.takenAlong) - v_total + 1)
                                INTO v_count, v_moved
                                USING NEW.trashed_at, NEW.trashed_by, NEW.trash_group, v_keys[v_place], NEW.trash_reason;
                            v_total := v_total + v_count;
                            IF v_total > \(TrashLimits.takenAlong) THEN
                                RAISE EXCEPTION 'more than \(TrashLimits.takenAlong) objects would go into the trash with one %', v_class.name
                                    USING ERRCODE = 'check_violation', CONSTRAINT = '\(TrashLimits.constraint)',
                                        SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME,
                                        HINT = 'Move what links to it into the trash first, in parts.';
                            END IF;
                            IF v_count > 0 THEN
                                v_tables := v_tables || v_link.relation;
                                v_keys := v_keys || v_moved;
                            END IF;
                        END LOOP;
                        v_place := v_place + 1;
                    END LOOP;
                    PERFORM set_config('tombolo.trash_walk', coalesce(v_walk, ''), true);
                    RETURN NULL;
                END
                """),
    ]

    /// - Parameter statement: the statement up to its condition.
    private static func objectBody(_ comment: String, _ statement: String) -> String {
        """

        -- \(comment)
        DECLARE
            v_class tombolo.class%ROWTYPE;
            v_count bigint;
        BEGIN
        \(lookUp)
            EXECUTE format('\(statement) WHERE %I = %s AND trashed_at IS NOT NULL',
                v_class.table_name, v_class.key_column, v_class.key_expression) USING p_key;
            GET DIAGNOSTICS v_count = ROW_COUNT;
            RETURN v_count > 0;
        END
        """
    }

    private static func groupBody(_ comment: String, _ statement: String) -> String {
        """

        -- \(comment)
        DECLARE
            v_table text;
            v_count bigint;
            v_total bigint := 0;
        BEGIN
            FOR v_table IN SELECT c.table_name FROM tombolo.class c WHERE c.is_trashable ORDER BY c.id LOOP
                EXECUTE format('\(statement)', v_table) USING p_group;
                GET DIAGNOSTICS v_count = ROW_COUNT;
                v_total := v_total + v_count;
            END LOOP;
            RETURN v_total;
        END
        """
    }
}
