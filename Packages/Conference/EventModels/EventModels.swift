public import TomboloModel
internal import TomboloRuleDocuments
public import TomboloRules

/// The event platform's classes, and what is derived from them. Every executable and the demo use this list.
public enum EventModels {
    /// All model classes.
    public static var objectTypes: [Object.Type] {
        [
            Event.self, Microlocation.self, Order.self, RoleAssignment.self, Session.self, SocialLink.self,
            Speaker.self, SpeakerContact.self, Sponsor.self, Ticket.self, Track.self, User.self,
        ]
    }

    /// The schema of ``objectTypes``, from which tables, sync and rules are derived.
    public static let schema: Schema = {
        do throws(SchemaError) {
            return try Schema.of(objectTypes)
        } catch {
            preconditionFailure("The event models don't form a valid schema:\n\(error)")
        }
    }()

    /// The rule document, in YAML: who may do what.
    public static var ruleDocument: [UInt8] { PackageResources.conference_rules_yaml }

    /// ``ruleDocument``, checked against ``schema``.
    public static let rules: Rules = {
        do throws(RuleError) {
            return try Rules(
                schema: schema, book: RuleBook(parsing: ruleDocument, file: "conference.rules.yaml"))
        } catch {
            preconditionFailure("The rules don't fit the event models:\n\(error)")
        }
    }()
}
