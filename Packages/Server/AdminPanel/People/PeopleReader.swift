import AdminService
import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// Reads who has which role in a scope, as far as the caller may see it.
struct PeopleReader {
    /// The maximum number of holders that are listed for one scope.
    private static let holderLimit = 200

    let request: PanelRequest
    let scope: RoleScope
    let people: PeopleRoutes

    private var view: CallerView { scope.view }
    private var records: RecordReader { RecordReader(view: view, pool: request.core.pool) }

    func content(_ grant: ModelGrant) async throws -> PeopleContent {
        var holders = try await holders()
        let isMore = holders.count > Self.holderLimit
        holders = Array(holders.prefix(Self.holderLimit))
        let names = try await names(of: holders)
        let userType = scope.userField?.target.flatMap { view.types[$0] }
        let mayRemove = view.refusal(JSONAPIRoutes.removal(of: scope.type.item), scope.type) == nil
        let mayInvite = view.refusal(.create, scope.type) == nil
        let (scopes, search) = try await scopes()
        return PeopleContent(
            className: scope.className, scope: scope.key ?? "", isEverywhere: scope.key == nil,
            title: try await title(), classes: classes, scopes: scopes,
            scopeName: scope.scopeType.map(ClassTitle.singular) ?? "", search: search,
            holders: holders.map { holder in
                let path = ClassPages.path(of: scope.type, id: holder.grant)
                return PeopleContent.Holder(
                    name: names[holder.user] ?? holder.user,
                    path: names[holder.user] == nil
                        ? nil : userType.map { ClassPages.path(of: $0, id: holder.user) },
                    role: localizedName(holder.role), grant: path, removal: mayRemove ? "\(path)/delete" : nil)
            },
            more: isMore ? localized("Only the first \(Self.holderLimit) are shown.") : nil,
            roles: mayInvite ? try roles(grant) : nil,
            invitations: mayInvite ? try await invitations(grant) : [],
            transfers: try await transfers(holders, names))
    }

    // MARK: Who

    private struct Holder {
        let grant: String
        let user: String
        let role: String
    }

    private func holders() async throws -> [Holder] {
        guard let user = scope.userField, let role = scope.roleField, view.isVisible(user, of: scope.type),
            view.isVisible(role, of: scope.type)
        else { return [] }
        let plan = ResourcePlan(scope.type, for: view, fields: [user.name, role.name])
        let sorts = [
            ResourceQuery.Sort(
                column: scope.type.item.columns[scope.columns.roleColumn], type: .string, isAscending: true),
            ResourceQuery.Sort(column: scope.type.key, type: scope.type.keyType, isAscending: true),
        ]
        let statement = try ResourceReader(view: view).statement(
            plan, matching: scope.predicate(), orderBy: sorts,
            limit: Self.holderLimit + 1)
        return try await request.core.pool.query(statement.sql, statement.parameters).map { row in
            let shown = try PanelResource(ResourceReader.Resource(plan: plan, row: row))
            return Holder(
                grant: shown.id, user: shown.linked(user.name)?.first ?? shown.attribute(user.name)?.text ?? "",
                role: shown.attribute(role.name)?.text ?? "")
        }
    }

    /// The people's names, as far as the caller may see them.
    private func names(of holders: [Holder]) async throws -> [String: String] {
        guard let type = scope.userField?.target.flatMap({ view.types[$0] }) else { return [:] }
        let choices = try await records.choices(of: type, among: Array(Set(holders.map(\.user))))
        return Dictionary(choices.map { ($0.id, $0.title) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Where

    private var classes: [PeopleContent.Choice]? {
        let all = RoleScope.classes(view)
        guard all.count > 1 else { return nil }
        return all.map {
            PeopleContent.Choice(
                value: $0.type.item.name, title: ClassTitle.plural(of: $0.type),
                isChosen: $0.type.item.name == scope.className)
        }
    }

    private func title() async throws -> String {
        guard let key = scope.key else { return localized("Roles that apply everywhere") }
        guard let type = scope.scopeType else { return localized("Roles in \(key)") }
        guard let found = try await records.choices(of: type, among: [key]).first else {
            throw RequestFailure.noSuchObject(ClassTitle.singular(of: type))
        }
        return localized("Roles in \(found.title)")
    }

    /// The scopes to choose from: all if there are few, otherwise the results of a search.
    private func scopes() async throws -> ([PeopleContent.Choice]?, PeopleContent.Search?) {
        guard let type = scope.scopeType, view.refusal(.read, type) == nil else { return (nil, nil) }
        var found = try await records.choices(
            of: type, matching: .constant(true), limit: RecordReader.choiceCount + 1)
        var search: PeopleContent.Search?
        if found.count > RecordReader.choiceCount {
            let text = request.query("q")
            search = PeopleContent.Search(plural: ClassTitle.plural(of: type), value: text ?? "")
            found = Array(found.prefix(RecordReader.choiceCount))
            if let text {
                found = try await records.choices(
                    of: type, matching: ListRequest.predicate(text, type, view.fields(of: type)),
                    limit: RecordReader.choiceCount)
            }
        }
        if let key = scope.key, !found.contains(where: { $0.id.hasBytes(of: key) }) {
            found += try await records.choices(of: type, among: [key])
        }
        let everywhere = PeopleContent.Choice(value: "", title: localized("everywhere"), isChosen: scope.key == nil)
        return (
            [everywhere]
                + found.map {
                    PeopleContent.Choice(
                        value: $0.id, title: $0.title, isChosen: $0.id.hasBytes(of: scope.key ?? ""))
                },
            search
        )
    }

    // MARK: What can be done

    /// The roles that fit this scope and that the caller may grant, according to the rules.
    private func roles(_ grant: ModelGrant) throws -> [PeopleContent.Choice] {
        let matrices = view.rules.matrices.values
        let isWithin = scope.key != nil || scope.columns.scopeColumn == nil
        let fitting = (scope.columns.roles ?? []).filter { role in
            let known = matrices.filter { $0.roles.contains(role) || $0.everywhereRoles.contains(role) }
            return known.isEmpty || known.contains { isWithin ? $0.roles.contains(role) : !$0.roles.contains(role) }
        }
        return try people.roles(among: fitting, className: scope.className, scope: scope.key, grant)
            .map { PeopleContent.Choice(value: $0, title: localizedName($0), isChosen: false) }
    }

    /// All open invitations. Their number is limited, both within one object and everywhere.
    private func invitations(_ grant: ModelGrant) async throws -> [PeopleContent.Invitation] {
        var items: [JSON] = []
        var last: ObjectId?
        repeat {
            let found = try await people.invitations(
                className: scope.className, scope: scope.key, isEverywhere: scope.key == nil, onlyOpen: true,
                after: last, grant)
            items += found["invitations"]?.items ?? []
            last = found["next"]?.text.flatMap { try? ObjectId(string: $0) }
        } while last != nil
        return items.compactMap { item in
            guard let id = item["id"]?.text else { return nil }
            let path = "\(PeoplePages.path)/invitations/\(id)"
            return PeopleContent.Invitation(
                email: item["email"]?.text ?? "", role: localizedName(item["role"]?.text ?? ""),
                expires: String((item["expiresAt"]?.text ?? "").prefix(10)),
                sent: String((item["sentAt"]?.text ?? "").prefix(10)), resend: "\(path)/resend",
                revoke: "\(path)/revoke")
        }
    }

    /// Roles that only one person can have at a time, and who can take them over: anybody with another role in this
    /// scope.
    private func transfers(_ holders: [Holder], _ names: [String: String]) async throws -> [PeopleContent.Transfer] {
        guard scope.key != nil, view.refusal(.transfer, scope.type) == nil else { return [] }
        var transfers: [PeopleContent.Transfer] = []
        for (role, left) in scope.columns.exclusive.sorted(by: { $0.key < $1.key }) {
            let holding = holders.filter { $0.role == role }
            let others = Set(holders.map(\.user)).subtracting(holding.map(\.user))
            guard !others.isEmpty, let key = holding.first.flatMap({ scope.type.keyValue($0.grant) }),
                try await ResourceReader(view: view).refusal(.transfer, scope.type, key: key, request.core.pool) == nil
            else { continue }
            transfers.append(
                PeopleContent.Transfer(
                    role: role, roleTitle: localizedName(role), left: localizedName(left),
                    choices: others.map { PeopleContent.Choice(value: $0, title: names[$0] ?? $0, isChosen: false) }
                        .sorted { $0.title < $1.title }))
        }
        return transfers
    }
}
