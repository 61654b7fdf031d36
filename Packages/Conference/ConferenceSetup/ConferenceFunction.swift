/// A trigger function of the event platform, in the schema `tombolo`.
struct ConferenceFunction {
    let name: String
    let body: String

    var sql: String {
        """
        CREATE OR REPLACE FUNCTION tombolo.\(name)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER \
        SET search_path = pg_catalog, pg_temp AS $function$\(body)$function$;
        REVOKE ALL ON FUNCTION tombolo.\(name)() FROM PUBLIC
        """
    }

    /// PL/pgSQL that refuses the row. It raises a named constraint's error, so that only this write of a device is
    /// refused and its other writes are kept, with a message that people see at the field.
    /// - Parameters:
    ///   - message: a sentence without a capital and a full stop.
    ///   - column: an SQL expression for the column's name.
    ///   - hint: what to do instead.
    static func refusal(_ constraint: String, _ message: String, at column: String, hint: String) -> String {
        """
        RAISE EXCEPTION '\(message)' USING ERRCODE = 'check_violation', CONSTRAINT = '\(constraint)', \
        SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = \(column), HINT = '\(hint)';
        """
    }

    /// Makes the function a trigger of the table. Idempotent. The trigger fires for every writer, including
    /// replication.
    /// - Parameter table: quoted, with its schema.
    func trigger(_ trigger: String, _ when: String, on table: String) -> String {
        """
        CREATE OR REPLACE TRIGGER \(trigger) \(when) ON \(table) FOR EACH ROW EXECUTE FUNCTION tombolo.\(name)();
        ALTER TABLE \(table) ENABLE ALWAYS TRIGGER \(trigger)
        """
    }
}
