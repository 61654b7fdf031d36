import EventModels
import TomboloPostgresStore

/// Makes a new event's creator its owner, in the same transaction and however the event is written: the rules require
/// that an event names its creator. Administrators may name somebody else, who then becomes the owner. If they name
/// nobody, they become the creator themselves. An event that plain SQL inserts without a creator has no owner.
enum EventOwners {
    private static let namingTrigger = "tombolo_creator"

    private static let naming = ConferenceFunction(
        name: "name_event_creator",
        body: """

            DECLARE
                v_user text;
            BEGIN
                IF NEW.creator IS NULL THEN
                    v_user := tombolo.writer();
                    IF v_user ~ '^[0-9a-f]{24}$' AND EXISTS (
                        SELECT FROM \(Conference.users) u WHERE u._id = decode(v_user, 'hex') AND u.trashed_at IS NULL) THEN
                        NEW.creator := decode(v_user, 'hex');
                    END IF;
                END IF;
                RETURN NEW;
            END
            """)

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

    private static let keepingTrigger = "tombolo_creator_stays"
    /// The rule's name, for errors.
    static let creatorStays = "the_creator_of_an_event_stays"

    /// An event's creator sees it without a role. If the creator could be changed, a user who may edit the event
    /// could become its creator and still see it after losing their role.
    private static let keeping = ConferenceFunction(
        name: "keep_event_creator",
        body: """

            BEGIN
                IF NEW.creator IS NOT NULL AND NEW.creator IS DISTINCT FROM OLD.creator THEN
                    \(ConferenceFunction.refusal(
                        creatorStays, "the creator of an event stays who they are", at: "'creator'",
                        hint: "Hand the role of its owner over instead."))
                END IF;
                RETURN NEW;
            END
            """)

    static func steps(_ live: PostgresCatalog) -> [SchemaStep] {
        [
            ("makers of new events", naming, namingTrigger, "BEFORE INSERT"),
            ("owners of new events", function, trigger, "AFTER INSERT"),
            ("creators of events", keeping, keepingTrigger, "BEFORE UPDATE OF creator"),
        ].compactMap { name, function, trigger, event in
            guard !live.triggers.contains("event.\(trigger)") || live.functions[function.name] != function.body else {
                return nil
            }
            let statements = [function.sql, function.trigger(trigger, event, on: "public.event")]
            return SchemaStep(name: name, sql: statements.joined(separator: ";\n"))
        }
    }
}
