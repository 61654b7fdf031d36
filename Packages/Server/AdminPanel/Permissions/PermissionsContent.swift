import AdminService
import TomboloHTTP
import TomboloLocalization
import TomboloRules
import TomboloServerModel

/// The values for the template `permissions`: roles, services, and a box for each operation; and what users may do
/// without a role.
struct PermissionsContent: Sendable {
    struct Box: Sendable {
        let letter: String
        let isTicked: Bool
        /// In words: `owner may update sessions`.
        let title: String
        /// The page that changes it; nil if the viewer may not, or if it isn't a box of the document.
        let link: String?
    }

    struct Cell: Sendable {
        /// Leaves out boxes that would permit nothing.
        let boxes: [Box]
        /// Whether each class's own rules decide.
        let isByRules: Bool
    }

    struct Row: Sendable {
        let service: String
        let classes: String
        let cells: [Cell]
    }

    struct Column: Sendable {
        let name: String
        /// `everywhere` for a role that applies everywhere, plus any other peculiarity; nil for an ordinary role within
        /// an object.
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

    let otherApps: [AppChoice]
    /// The app and the version of its rules, in words.
    let state: String
    let columns: [Column]
    let rows: [Row]
    let mayChange: Bool
    let userGroups: [String]
    let userRows: [UserRow]
    let hasUserRows: Bool
    let links: PermissionLinks

    init(_ grant: MatrixGrant, apps: [String], mayChange: Bool, changedAt: String?, changedBy: String?) {
        let (matrix, model, app, version) = (grant.matrix, grant.model, grant.app, grant.version)
        otherApps = apps.count > 1 ? apps.map { AppChoice(name: $0, isChosen: $0 == app) } : []
        state =
            if let changedAt, let changedBy {
                localized("\(app), version \(version), stored \(changedAt) by \(changedBy).")
            } else if let changedAt {
                localized("\(app), version \(version), stored \(changedAt).")
            } else {
                localized("\(app), version \(version).")
            }
        self.mayChange = mayChange
        links = PermissionLinks(app)
        let roles = matrix.everywhereRoles + matrix.roles
        let custom = Set(model.customRoles(of: app))
        columns = roles.map { role in
            Column(
                name: localizedName(role),
                kind: Self.kind(isEverywhere: !matrix.roles.contains(role), isAdded: custom.contains(role)),
                link: PermissionLinks.role(app, role))
        }
        rows = matrix.services.map { service in
            Row(
                service: ClassTitle.service(service.name), classes: service.classNames.joined(separator: ", "),
                cells: roles.map { role in
                    Self.cell(role, service, grant, isLinked: mayChange)
                })
        }
        userGroups = matrix.userGroups.map(localizedName)
        userRows = matrix.userPermissions.map { permission in
            UserRow(
                permission: localizedName(permission),
                boxes: matrix.userGroups.map { group in
                    let box = PermissionMatrix.UserBox(permission: permission, group: group)
                    let isTicked = matrix.permits(box)
                    return Box(
                        letter: isTicked ? "✓" : "–", isTicked: isTicked,
                        title: Self.title(box, isTicked: isTicked),
                        link: mayChange ? PermissionLinks.box(app, box, version: version, allowed: !isTicked) : nil)
                })
        }
        hasUserRows = !userRows.isEmpty
    }

    /// What is special about a role.
    private static func kind(isEverywhere: Bool, isAdded: Bool) -> String? {
        switch (isEverywhere, isAdded) {
        case (true, true): localized("everywhere, added")
        case (true, false): localized("everywhere")
        case (false, true): localized("added", context: "role")
        case (false, false): nil
        }
    }

    private static func title(_ box: PermissionMatrix.UserBox, isTicked: Bool) -> String {
        let (group, permission) = (localizedName(box.group), localizedName(box.permission))
        return isTicked
            ? localized("\(group) users have the permission \(permission)")
            : localized("\(group) users don't have the permission \(permission)")
    }

    private static func title(_ box: PermissionMatrix.Box, isTicked: Bool, isRow: Bool) -> String {
        let (role, verb, service) = (localizedName(box.role), box.operation.verb, ClassTitle.service(box.service))
        return switch (isTicked, isRow) {
        case (true, true): localized("\(role) may \(verb) \(service)")
        case (false, true): localized("\(role) may not \(verb) \(service)")
        case (true, false): localized("\(role) may \(verb) \(service), by the rules of the class")
        case (false, false): localized("\(role) may not \(verb) \(service), by the rules of the class")
        }
    }

    private static func cell(
        _ role: String, _ service: PermissionMatrix.Service, _ grant: MatrixGrant, isLinked: Bool
    ) -> Cell {
        let matrix = grant.matrix
        // A role without boxes has the permissions that the classes' own rules give it everywhere.
        let isRow = matrix.rows.contains(role)
        guard
            let letters = isRow
                ? "" : grant.model.letters(everywhere: role, service: service.name, inMatrixOf: grant.app)
        else { return Cell(boxes: [], isByRules: true) }
        let boxes = PermissionMatrix.operations.compactMap { operation -> Box? in
            let box = PermissionMatrix.Box(role: role, service: service.name, operation: operation)
            let isTicked = isRow ? matrix.permits(box) : letters.contains(operation.name.prefix(1))
            guard !isRow || isTicked || matrix.counts(box) else { return nil }
            return Box(
                letter: isTicked ? operation.name.prefix(1).uppercased() : "–", isTicked: isTicked,
                title: Self.title(box, isTicked: isTicked, isRow: isRow),
                link: isLinked && isRow
                    ? PermissionLinks.box(grant.app, box, version: grant.version, allowed: !isTicked) : nil)
        }
        return Cell(boxes: boxes, isByRules: false)
    }
}
