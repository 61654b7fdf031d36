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
    static let lookUp = """
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
        locks + trash + ChangelogPartition.functions + [
            ForeignChangelog.function, RuleAddition.function, JoiningByInvitation.function,
        ] + audit

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
                """),
        SystemFunction(
            name: ServiceLock.purgeFunction, parameters: "", result: "boolean",
            body: """

                -- The same for who purges the trash.
                BEGIN
                    RETURN tombolo.\(ServiceLock.function)('\(ServiceLock.purge.rawValue)');
                END
                """),
    ]
}
