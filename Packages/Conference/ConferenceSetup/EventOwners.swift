import EventModels
import TomboloPostgresStore

/// Whoever makes an event becomes its owner, in the same transaction and whichever way they write it: the rules ask that an
/// event names who makes it.
enum EventOwners {
    private static let trigger = "tombolo_first_owner"

    private static let function = ConferenceFunction(
        name: "own_new_event",
        body: """

            BEGIN
                IF NEW.creator IS NOT NULL AND NEW.trashed_at IS NULL
                    AND EXISTS (SELECT 1 FROM \(Conference.users) u WHERE u._id = NEW.creator AND u.trashed_at IS NULL) THEN
                    -- The key is the event's: one that is made again, as by a restored device, gets no second owner.
                    INSERT INTO \(Conference.assignments) (_id, "user", role, event)
                    VALUES (NEW._id, NEW.creator, '\(RoleName.owner.rawValue)', NEW._id)
                    ON CONFLICT DO NOTHING;
                    -- An assignment in another event has that key: the event must not stay without an owner.
                    IF NOT FOUND AND EXISTS (
                        SELECT FROM \(Conference.assignments) a
                        WHERE a._id = NEW._id AND a.event IS DISTINCT FROM NEW._id) THEN
                        INSERT INTO \(Conference.assignments) (_id, "user", role, event)
                        VALUES (substr(sha256(NEW._id || 'owner'::bytea), 1, 12), NEW.creator,
                            '\(RoleName.owner.rawValue)', NEW._id)
                        ON CONFLICT DO NOTHING;
                    END IF;
                END IF;
                RETURN NULL;
            END
            """)

    static func steps(_ live: PostgresCatalog) -> [SchemaStep] {
        guard !live.triggers.contains("event.\(trigger)") || live.functions[function.name] != function.body else {
            return []
        }
        let statements = [function.sql, function.trigger(trigger, "AFTER INSERT", on: "public.event")]
        return [SchemaStep(name: "owners of new events", sql: statements.joined(separator: ";\n"))]
    }
}
