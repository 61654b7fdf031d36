/// A function in `tombolo` for our own servers. PUBLIC can't execute it.
struct SystemFunction {
    let name: String
    let parameters: String
    let result: String
    /// Settings that apply while the function runs, each with a leading space.
    var settings = ""
    let body: String
    /// The parameter types of an earlier version of the function, if they differ. That version is dropped, and roles
    /// that could call it can call this one.
    var former: String?

    var sql: String {
        let signature = "tombolo.\(name)(\(parameters.replacing(" DEFAULT NULL", with: "")))"
        return """
            CREATE OR REPLACE FUNCTION tombolo.\(name)(\(parameters)) RETURNS \(result) LANGUAGE plpgsql SECURITY DEFINER \
            SET search_path = pg_catalog, pg_temp\(settings) AS $function$\(body)$function$;
            REVOKE ALL ON FUNCTION \(signature) FROM PUBLIC
            """ + (former.map { ";\n\(Self.replacement(of: "tombolo.\(name)(\($0))", by: signature))" } ?? "")
    }

    /// Keeping both would make a call with the former version's arguments ambiguous.
    private static func replacement(of former: String, by signature: String) -> String {
        """
        DO $replace$
        DECLARE
            v_former regprocedure := to_regprocedure('\(former)');
            v_role regrole;
        BEGIN
            FOR v_role IN SELECT a.grantee::regrole FROM pg_proc p CROSS JOIN LATERAL aclexplode(p.proacl) AS a
                WHERE p.oid = v_former AND a.grantee NOT IN (0, p.proowner)
            LOOP
                EXECUTE format('GRANT EXECUTE ON FUNCTION \(signature) TO %s', v_role);
            END LOOP;
            IF v_former IS NOT NULL THEN
                EXECUTE format('DROP FUNCTION %s', v_former);
            END IF;
        END $replace$
        """
    }

    /// Looks up the row of `tombolo.class`, or raises an error.
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
        [deferKeys] + locks + trash + ChangelogPartition.functions + [
            ForeignChangelog.function, RuleAddition.function, JoiningByInvitation.function,
        ] + audit

    /// The trigger function of ``DeferredKeys``. Of our keys, only those that need it are deferrable. So `ALL`
    /// affects these keys, and any that other services want to be able to defer.
    static let deferKeys = SystemFunction(
        name: "defer_keys", parameters: "", result: "trigger",
        body: """

            BEGIN
                SET CONSTRAINTS ALL DEFERRED;
                RETURN NULL;
            END
            """)

    private static let locks =
        [takeLock]
        + ServiceLock.allCases.compactMap { lock in
            lock.ownFunction.map { name in
                SystemFunction(
                    name: name, parameters: "", result: "boolean",
                    body: """

                        -- The same for one lock alone.
                        BEGIN
                            RETURN tombolo.\(ServiceLock.function)('\(lock.rawValue)');
                        END
                        """)
            }
        }

    private static let takeLock = SystemFunction(
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
}
