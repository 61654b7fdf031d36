/// A trigger function of the event platform, in `tombolo`.
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

    /// Makes the function the table's trigger, again without harm. It fires whoever writes, replication included.
    /// - Parameter table: quoted, with its schema.
    func trigger(_ trigger: String, _ when: String, on table: String) -> String {
        """
        CREATE OR REPLACE TRIGGER \(trigger) \(when) ON \(table) FOR EACH ROW EXECUTE FUNCTION tombolo.\(name)();
        ALTER TABLE \(table) ENABLE ALWAYS TRIGGER \(trigger)
        """
    }
}
