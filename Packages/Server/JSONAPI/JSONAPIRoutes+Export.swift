import HTTPTypes
package import Hummingbird
import TomboloHTTP
import TomboloLocalization
package import TomboloModel
import TomboloRules

/// `GET /export/{collection}?format=csv`: all resources that a list with the same filters would show, in one answer.
extension JSONAPIRoutes {
    /// Outside of ``path``, where a resource might have the id `export`.
    static let exportPath = "/export/{collection}"
    private static let ownParameters: Set<String> = ["format", "formulas", "titles"]

    func addExport(to routes: Routes) {
        routes.on(.get, Self.exportPath, access: access(localized("read", context: "may …")) { _ in [.read] }) {
            request, context, grant in
            let (view, type) = try view(grant)
            return try await export(
                type, try RequestParameters(request), for: view, at: context.addressGroup)
        }
    }

    /// The answer to an export. It takes one of the places of this server's exports.
    /// - Parameters:
    ///   - parameters: `format`, `formulas`, `titles`, `filter`, `sort` and `fields`.
    ///   - narrowing: a condition on rows in addition to the filters.
    ///   - fields: the class's fields to export if `fields` doesn't say; nil for all.
    ///   - address: the caller's address as limits count it; empty if it's unknown.
    package func export(
        _ type: ResourceType, _ parameters: RequestParameters, narrowing: Predicate = .constant(true),
        fields: Set<String>? = nil, for view: CallerView, at address: String
    ) async throws -> Response {
        let format = try Self.format(parameters)
        let guardsFormulas = try Self.guardsFormulas(parameters)
        let hasTitles = try Self.hasTitles(parameters)
        var query = try ResourceQuery(parameters.without(Self.ownParameters), .rows, of: type, for: view)
        query.filter = .all([query.filter, narrowing])
        if query.fields[type.name] == nil { query.fields[type.name] = fields }
        // Lists are ordered by id. Here that would cost a sort of all rows that nobody asked for.
        let isSorted = parameters.all.contains { $0.name == "sort" }
        let statement = try ExportStatement(
            type, query, sorts: isSorted ? query.sorts : [], format: format, guardsFormulas: guardsFormulas,
            hasTitles: hasTitles, for: view)
        let (places, holder) = (exportPlaces, ExportPlaces.Holder(user: view.subject.userID, address: address))
        try places.take(holder)
        let stream = ExportStream(statement, pool) { places.giveBack(holder) }
        return try await stream.response(format, fileName: type.name)
    }

    private static func format(_ parameters: RequestParameters) throws -> ExportFormat {
        guard let parameter = parameters.all.first(where: { $0.name == "format" }) else { return .csv }
        guard let format = ExportFormat(rawValue: parameter.value) else {
            let known = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw parameter.failure(localized("unknown format."), localized("Send one of \(known)."))
        }
        return format
    }

    private static func guardsFormulas(_ parameters: RequestParameters) throws -> Bool {
        guard let parameter = parameters.all.first(where: { $0.name == "formulas" }) else { return true }
        switch parameter.value {
        case "guarded": return true
        case "plain": return false
        default:
            throw parameter.failure(
                localized("it must be 'guarded' or 'plain'."), localized("Leave it out for 'guarded'."))
        }
    }

    private static func hasTitles(_ parameters: RequestParameters) throws -> Bool {
        guard let parameter = parameters.all.first(where: { $0.name == "titles" }) else { return false }
        guard let hasTitles = Bool(parameter.value) else {
            throw parameter.failure(
                localized("it must be 'true' or 'false'."), localized("Leave it out for 'false'."))
        }
        return hasTitles
    }
}
