import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// What the API has of one class: its fields, what lists can be asked for, and a request for each operation.
struct APIClassPage {
    private static let template = PanelTemplate(PackageResources.api_class_mustache)
    /// Objects that are tried as what a new one links to.
    private static let candidateCount = 20

    let request: PanelRequest
    let view: CallerView
    let type: ResourceType

    func page() async throws -> PanelPage {
        let content = APIClassContent(
            examples: RequestExamples(type, for: view, with: try await samples()),
            server: APIPages.server(request), login: APIPages.login(request))
        let title = ClassTitle.plural(of: type)
        return PanelPage(
            localized("API: \(title)"), crumbs: [APIPages.crumb], content: Self.template.render(content.values))
    }

    // MARK: Objects for examples

    /// Objects that the caller sees, so that the examples work as they are.
    private func samples() async throws -> RequestExamples.Samples {
        var samples = RequestExamples.Samples()
        samples.update = try await sample(.update)
        samples.read = samples.update
        if samples.read == nil { samples.read = try await sample(nil) }
        guard view.refusal(.create, type) == nil else { return samples }
        samples.create = try await sample(.create)
        samples.links = try await links(samples.create)
        return samples
    }

    private func sample(_ operation: TomboloRules.Operation?) async throws -> ResourceSample? {
        if let operation, view.refusal(operation, type) != nil { return nil }
        return try await ResourceReader(view: view).patientSample(of: type, permitting: operation, request.core.pool)
    }

    /// The resource identifiers of what a new object may link to, by relationship: what such an object links to, or without
    /// one what must be linked to, and what the rules look at.
    private func links(_ sample: ResourceSample?) async throws -> [String: JSON] {
        let all = Resource.objects(classIndex: type.classIndex)
        guard case .allowed(let filter) = view.rules.authorize(view.subject, .create, all) else { return [:] }
        var links: [String: JSON] = [:]
        for field in view.fields(of: type) {
            guard case .toOne(let column, let index) = field.content, let target = view.types[index] else { continue }
            if let sample {
                links[field.name] = sample.linked(field.name).first
            } else if field.isRequiredOnCreation
                || filter.paths.contains(PropertyPath(type.item.columns[column].name))
            {
                links[field.name] = try await candidate(target, column)
            }
        }
        return links
    }

    /// The first of the objects that a new one may link to by a column.
    private func candidate(_ target: ResourceType, _ column: Int) async throws -> JSON? {
        let reader = RecordReader(view: view, pool: request.core.pool)
        let choices = try await reader.choices(
            of: target, matching: .constant(true), limit: Self.candidateCount, isByTitle: false)
        let found = choices.first { choice in
            guard let key = target.keyValue(choice.id) else { return false }
            let having = Resource.objects(classIndex: type.classIndex, having: [column: key])
            return switch view.rules.authorize(view.subject, .create, having) {
            case .allowed(.constant(false)), .denied: false
            case .allowed: true
            }
        }
        return found.map { ["type": .string(target.name), "id": .string($0.id)] }
    }
}
