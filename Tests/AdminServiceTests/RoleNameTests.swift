@testable import AdminService
import Testing
import TomboloHTTP
import TomboloModel
import TomboloServerModel

@Suite struct RoleNameTests {
    final class Membership: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var user: ObjectId?
        @Persisted var role: String
    }

    @Test("a role whose name is spelled with other code points isn't the one that a grant lists")
    func spelling() throws {
        let models = try ModelDocument(app: "press", objectTypes: [Membership.self])
        let rules = """
            version: 1
            grants:
              - {class: Membership, user: user, role: role, roles: ["\u{E9}diteur"]}
            defaultRoles:
              - {name: everybody, applyWhen: {}, read: true, write: true}
            """
        let model = try ServerModel([
            StoredDocument(version: 1, app: "press", kind: .models, content: models.json),
            StoredDocument(version: 2, app: "press", kind: .rules, content: rules),
        ])
        let item = try GrantClass.find(nil, in: model.rules)
        try item.check("\u{E9}diteur", in: nil)
        #expect {
            try item.check("e\u{301}diteur", in: nil)
        } throws: { error in
            (error as? RequestFailure)?.code == .unprocessable
        }
    }
}
