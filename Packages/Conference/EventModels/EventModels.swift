public import TomboloModel
public import TomboloRules

/// The event platform's classes, with what follows from them. Every executable and the demo use this one list.
public enum EventModels {
    /// All model classes.
    public static var objectTypes: [Object.Type] {
        [
            Event.self, Listing.self, Microlocation.self, RoleAssignment.self, Session.self, SocialLink.self,
            Speaker.self, SpeakerContact.self, Sponsor.self, Ticket.self, Track.self, User.self,
        ]
    }

    /// The schema of ``objectTypes``: what tables, sync and rules are made of.
    public static let schema: Schema = {
        do throws(SchemaError) {
            return try Schema.of(objectTypes)
        } catch {
            preconditionFailure("The event models do not form a schema:\n\(error)")
        }
    }()

    /// Who may do what: ``ruleTable`` checked against ``schema``.
    public static let rules: Rules = {
        do throws(RuleError) {
            return try Rules(schema: schema, table: ruleTable)
        } catch {
            preconditionFailure("The rules do not fit the event models:\n\(error)")
        }
    }()
}
