import AdminService
import TomboloRules
import TomboloServerModel

/// What the template `permissions` shows: roles, services, and a box for each operation; and what users may do without a
/// role.
struct PermissionsContent: Sendable {
    struct Box: Sendable {
        let letter: String
        let isTicked: Bool
        /// In words: `owner may update sessions`.
        let title: String
        /// Where it's changed; nil for those who may not, and for what isn't a box of the document.
        let link: String?
    }

    struct Cell: Sendable {
        /// None where it's the rules of each class that say it.
        let boxes: [Box]
    }

    struct Row: Sendable {
        let service: String
        let classes: String
        let cells: [Cell]
    }

    struct Column: Sendable {
        let name: String
        /// `everywhere` for a role that counts everywhere, with what is special of it; nil for one within an object.
        let kind: String?
        let link: String
    }

    struct UserRow: Sendable {
        let permission: String
        let boxes: [Box]
    }

    struct AppChoice: Sendable {
        let name: String
        let isChosen: Bool
    }

    let app: String
    let otherApps: [AppChoice]
    let version: Int64
    let changedAt: String?
    let changedBy: String?
    let columns: [Column]
    let rows: [Row]
    let mayChange: Bool
    let userGroups: [String]
    let userRows: [UserRow]
    let hasUserRows: Bool
    let links: PermissionLinks

    init(_ grant: MatrixGrant, apps: [String], mayChange: Bool, changedAt: String?, changedBy: String?) {
        let (matrix, model, app, version) = (grant.matrix, grant.model, grant.app, grant.version)
        self.app = app
        otherApps = apps.count > 1 ? apps.map { AppChoice(name: $0, isChosen: $0 == app) } : []
        self.version = version
        self.changedAt = changedAt
        self.changedBy = changedBy
        self.mayChange = mayChange
        links = PermissionLinks(app)
        let roles = matrix.everywhereRoles + matrix.roles
        let custom = Set(model.customRoles(of: app))
        columns = roles.map { role in
            var kinds = matrix.roles.contains(role) ? [] : ["everywhere"]
            if custom.contains(role) { kinds.append("added") }
            return Column(
                name: role, kind: kinds.isEmpty ? nil : kinds.joined(separator: ", "),
                link: PermissionLinks.role(app, role))
        }
        rows = matrix.services.map { service in
            Row(
                service: service.name, classes: service.classNames.joined(separator: ", "),
                cells: roles.map { role in
                    Cell(boxes: Self.boxes(role, service.name, grant, isLinked: mayChange))
                })
        }
        userGroups = matrix.userGroups
        userRows = matrix.userPermissions.map { permission in
            UserRow(
                permission: permission,
                boxes: matrix.userGroups.map { group in
                    let box = PermissionMatrix.UserBox(permission: permission, group: group)
                    let isTicked = matrix.permits(box)
                    return Box(
                        letter: isTicked ? "✓" : "–", isTicked: isTicked,
                        title: "\(group) users have \(isTicked ? "" : "not ")the permission \(permission)",
                        link: mayChange ? PermissionLinks.box(app, box, version: version, allowed: !isTicked) : nil)
                })
        }
        hasUserRows = !userRows.isEmpty
    }

    private static func boxes(_ role: String, _ service: String, _ grant: MatrixGrant, isLinked: Bool) -> [Box] {
        let matrix = grant.matrix
        // A role without boxes has what the classes' own rules give it everywhere.
        let isRow = matrix.rows.contains(role)
        guard let letters = isRow ? "" : grant.model.letters(everywhere: role, service: service, inMatrixOf: grant.app)
        else { return [] }
        return PermissionMatrix.operations.map { operation in
            let box = PermissionMatrix.Box(role: role, service: service, operation: operation)
            let isTicked = isRow ? matrix.permits(box) : letters.contains(operation.name.prefix(1))
            return Box(
                letter: isTicked ? operation.name.prefix(1).uppercased() : "–", isTicked: isTicked,
                title: "\(role) may \(isTicked ? "" : "not ")\(operation) \(service)"
                    + (isRow ? "" : ", by the rules of the class"),
                link: isLinked && isRow
                    ? PermissionLinks.box(grant.app, box, version: grant.version, allowed: !isTicked) : nil)
        }
    }
}
