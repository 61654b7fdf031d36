/// A function in `tombolo` for our own servers. Not executable by PUBLIC.
struct SystemFunction {
    let name: String
    let parameters: String
    let result: String
    /// Settings that hold while it runs, each with a space before it.
    var settings = ""
    let body: String

    var sql: String {
        """
        CREATE OR REPLACE FUNCTION tombolo.\(name)(\(parameters)) RETURNS \(result) LANGUAGE plpgsql SECURITY DEFINER \
        SET search_path = pg_catalog, pg_temp\(settings) AS $function$\(body)$function$;
        REVOKE ALL ON FUNCTION tombolo.\(name)(\(parameters)) FROM PUBLIC
        """
    }

    /// The row of `tombolo.class`, or an error that says what there is.
    private static let lookUp = """
            SELECT * INTO v_class FROM tombolo.class c WHERE c.name = p_class OR c.table_name = p_class;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'there is no class %', p_class USING ERRCODE = 'undefined_table',
                    HINT = 'Pass the name of a class or of its table.';
            END IF;
            IF NOT v_class.is_trashable THEN
                RAISE EXCEPTION 'objects of % are not kept in the trash', p_class
                    USING ERRCODE = 'wrong_object_type', HINT = 'Delete the row instead.';
            END IF;
        """

    static let all: [SystemFunction] =
        locks + trash + ChangelogPartition.functions + [ForeignChangelog.function, RuleAddition.function]

    private static let locks: [SystemFunction] = [
        SystemFunction(
            name: ServiceLock.function, parameters: "p_name text", result: "boolean",
            body: """

                -- Takes a lock until the transaction ends; false where another session has it. The caught error stays out
                -- of the server's log.
                BEGIN
                    EXECUTE format('LOCK TABLE tombolo.%I IN EXCLUSIVE MODE NOWAIT', p_name);
                    RETURN true;
                EXCEPTION WHEN lock_not_available THEN
                    RETURN false;
                END
                """)
    ]

    private static let trash: [SystemFunction] = [
        SystemFunction(
            name: "trash", parameters: "p_class text, p_key text, p_by text, p_group uuid", result: "boolean",
            body: """

                -- Moves one object into the trash; false where it is not there or in the trash already.
                DECLARE
                    v_class tombolo.class%ROWTYPE;
                    v_count bigint;
                BEGIN
                \(lookUp)
                    EXECUTE format('UPDATE public.%I SET trashed_at = clock_timestamp(), trashed_by = $2, '
                        'trash_group = $3 WHERE %I = %s AND trashed_at IS NULL',
                        v_class.table_name, v_class.key_column, v_class.key_expression) USING p_key, p_by, p_group;
                    GET DIAGNOSTICS v_count = ROW_COUNT;
                    RETURN v_count > 0;
                END
                """),
        SystemFunction(
            name: "restore", parameters: "p_class text, p_key text", result: "boolean",
            body: """

                -- Takes one object out of the trash; a unique rule that it would break is error 23505 with its name.
                DECLARE
                    v_class tombolo.class%ROWTYPE;
                    v_count bigint;
                BEGIN
                \(lookUp)
                    EXECUTE format('UPDATE public.%I SET trashed_at = NULL, trashed_by = NULL, trash_group = NULL '
                        'WHERE %I = %s AND trashed_at IS NOT NULL',
                        v_class.table_name, v_class.key_column, v_class.key_expression) USING p_key;
                    GET DIAGNOSTICS v_count = ROW_COUNT;
                    RETURN v_count > 0;
                END
                """),
        SystemFunction(
            name: "purge", parameters: "p_class text, p_key text", result: "boolean",
            body: """

                -- Deletes one object that is in the trash, for good.
                DECLARE
                    v_class tombolo.class%ROWTYPE;
                    v_count bigint;
                BEGIN
                \(lookUp)
                    EXECUTE format('DELETE FROM public.%I WHERE %I = %s AND trashed_at IS NOT NULL',
                        v_class.table_name, v_class.key_column, v_class.key_expression) USING p_key;
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
    ]

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
