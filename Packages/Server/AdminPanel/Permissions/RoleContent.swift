import AdminService
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules
import TomboloServerModel

/// The values for the template `role`: a role, who has it, and what renaming or removing it would affect.
struct RoleContent: Sendable {
    struct Holder: Sendable {
        let name: String
        let link: String?
        let grants: String
    }

    let name: String
    let app: String
    let reach: String
    let version: Int64
    let summary: String
    let holders: [Holder]
    let hasHolders: Bool
    let rest: String?
    /// Whether the viewer can rename and remove it.
    let mayRename: Bool
    let mayRemove: Bool
    /// Why it can't be renamed or removed; shown to those who may change the matrix.
    let fixedReason: String?
    let keptReason: String?
    let rename: String
    let remove: String
    let back: String
    var newName = ""
    var problem: TrashGroupContent.Problem?

    init(_ name: String, _ grant: MatrixGrant, _ found: RoleHolders, mayChange: Bool) {
        self.name = localizedName(name)
        app = grant.app
        version = grant.version
        reach =
            grant.matrix.roles.contains(name)
            ? localized("It applies within one object, such as an event.") : localized("It applies everywhere.")
        summary = Self.summary(users: Int(clamping: found.users), grants: Int(clamping: found.grants))
        let seesAccounts = AccountsGrant.isPermitted(grant.subject, .listAccounts, grant.model)
        holders = found.holders.map { holder in
            Holder(
                name: holder.email
                    ?? (holder.name.isEmpty ? holder.userID?.stringValue ?? localized("nobody") : holder.name),
                link: seesAccounts ? holder.userID.map { "/panel/accounts/\($0)" } : nil,
                grants: Self.times(Int(clamping: holder.grants)))
        }
        hasHolders = !holders.isEmpty
        let more = found.users - Int64(holders.count)
        rest = more > 0 ? localized("And \(more) more.") : nil
        let isCustom = grant.model.customRoles(of: grant.app).contains(name)
        mayRename = mayChange && isCustom
        mayRemove = mayRename && found.grants == 0
        fixedReason =
            mayChange && !isCustom
            ? localized("The app's rules also name this role elsewhere, so it can't be renamed or removed.")
            : nil
        keptReason =
            mayRename && !mayRemove
            ? localized("It can't be removed while somebody has it. Delete the objects that grant it, or rename it.")
            : nil
        rename = PermissionLinks.role(grant.app, name, "/rename")
        remove = PermissionLinks.role(grant.app, name, "/remove")
        back = PermissionLinks(grant.app).grid
    }

    private static func times(_ count: Int) -> String {
        count == 1 ? localized("once") : localized(count, one: "\(count) time", other: "\(count) times")
    }

    private static func summary(users: Int, grants: Int) -> String {
        guard grants > 0 else { return localized("Nobody has it.") }
        let users = localized(users, one: "\(users) user has it", other: "\(users) users have it")
        let objects = localized(grants, one: "\(grants) object grants it", other: "\(grants) objects grant it")
        return localized("\(users); \(objects).")
    }
}

/// The values for the template `role_new`: the form of an additional role, with what was submitted before.
struct NewRoleContent: Sendable {
    struct Box: Sendable {
        let field: String
        let label: String
        let title: String
        let isChosen: Bool
    }

    struct Row: Sendable {
        let service: String
        let classes: String
        let boxes: [Box]
    }

    let name: String
    let isEverywhere: Bool
    let rows: [Row]
    let version: Int64
    let action: String
    let back: String
    let maximumNameCount = 40
    var problem: TrashGroupContent.Problem?

    init(_ grant: MatrixGrant, _ field: (String) -> String?) {
        name = field("name") ?? ""
        isEverywhere = field("reach") == "everywhere"
        version = grant.version
        rows = grant.matrix.services.map { service in
            Row(
                service: ClassTitle.service(service.name), classes: service.classNames.joined(separator: ", "),
                boxes: PermissionMatrix.operations.filter { operation in
                    [true, false].contains { service.counts(operation, isEverywhere: $0) }
                }.map { operation in
                    let name = Self.field(operation, service.name)
                    let (verb, words) = (operation.verb, ClassTitle.service(service.name))
                    return Box(
                        field: name, label: operation.name.prefix(1).uppercased(),
                        title: localized("May \(verb) \(words)"), isChosen: field(name) != nil)
                })
        }
        action = PermissionLinks(grant.app).newRole
        back = PermissionLinks(grant.app).grid
    }

    static func field(_ operation: Operation, _ service: String) -> String { "\(operation.name).\(service)" }
}
