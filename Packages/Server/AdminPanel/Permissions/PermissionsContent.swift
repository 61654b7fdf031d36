import AdminService
import TomboloRules
import TomboloServerModel

/// What the template `permissions` shows: roles, services, and a box for each operation.
struct PermissionsContent: Sendable {
    struct Box: Sendable {
        let letter: String
        let isTicked: Bool
        /// In words: `owner may update sessions`.
        let title: String
        /// Where it's changed; nil for those who may not.
        let link: String?
    }

    struct Cell: Sendable {
        let boxes: [Box]
    }

    struct Row: Sendable {
        let service: String
        let classes: String
        let cells: [Cell]
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
    let roles: [String]
    let rows: [Row]
    let mayChange: Bool
    let hasEverywhereRoles: Bool
    let everywhereRoles: String
    let links: PermissionLinks

    init(_ grant: MatrixGrant, apps: [String], mayChange: Bool, changedAt: String?, changedBy: String?) {
        let (matrix, app) = (grant.matrix, grant.app)
        self.app = app
        otherApps = apps.count > 1 ? apps.map { AppChoice(name: $0, isChosen: $0 == app) } : []
        version = grant.version
        self.changedAt = changedAt
        self.changedBy = changedBy
        self.mayChange = mayChange
        roles = matrix.roles
        hasEverywhereRoles = !matrix.everywhereRoles.isEmpty
        everywhereRoles = matrix.everywhereRoles.joined(separator: ", ")
        links = PermissionLinks(app)
        let version = grant.version
        rows = matrix.services.map { service in
            Row(
                service: service.name, classes: service.classNames.joined(separator: ", "),
                cells: matrix.roles.map { role in
                    Cell(
                        boxes: PermissionMatrix.operations.map { operation in
                            let box = PermissionMatrix.Box(role: role, service: service.name, operation: operation)
                            let isTicked = matrix.permits(box)
                            let letter = operation.name.prefix(1).uppercased()
                            return Box(
                                letter: isTicked ? letter : "–", isTicked: isTicked,
                                title: "\(role) may \(isTicked ? "" : "not ")\(operation) \(service.name)",
                                link: mayChange
                                    ? PermissionLinks.box(app, box, version: version, allowed: !isTicked) : nil)
                        })
                })
        }
    }
}

/// Addresses of the pages about permissions.
struct PermissionLinks: Sendable {
    let grid: String
    let why: String
    let routes: String

    init(_ app: String) {
        let query = "?app=\(Self.escape(app))"
        grid = "/panel/permissions\(query)"
        why = "/panel/permissions/why"
        routes = "/panel/permissions/routes\(query)"
    }

    static func box(_ app: String, _ box: PermissionMatrix.Box, version: Int64, allowed: Bool) -> String {
        "/panel/permissions/box?app=\(escape(app))&role=\(escape(box.role))&service=\(escape(box.service))"
            + "&operation=\(escape(box.operation.name))&allowed=\(allowed)&version=\(version)"
    }

    /// For the query of an address.
    static func escape(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
