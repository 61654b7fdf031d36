import ServiceTestSupport
import Testing
import TomboloJSONAPI
import TomboloRules

extension ServiceFixture {
    /// The view of a user who has a role everywhere.
    func view(as role: String) throws -> CallerView {
        let subject = Subject(user: try #require(users[role]), grants: [RoleGrant(Role(role))])
        return CallerView(subject: subject, rules: rules, types: ResourceTypes(rules.schema))
    }
}
