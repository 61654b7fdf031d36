import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Imports: upload a file, map its columns, preview the outcome, and run it as a job. Everything works without
/// JavaScript.
struct ImportPages: PanelSection {
    private static let path = "\(AdminPanel.path)/import"
    private static let upload = PanelTemplate(PackageResources.import_mustache)
    /// How many bytes the form may have besides the file.
    private static let formByteCount = 64 << 10
    private static var separators: [(value: String, title: String, byte: UInt8?)] {
        [
            ("", localized("whatever the file uses"), nil), ("comma", localized("commas"), UInt8(ascii: ",")),
            ("semicolon", localized("semicolons"), UInt8(ascii: ";")), ("tab", localized("tabs"), UInt8(ascii: "\t")),
        ]
    }

    static func path(of type: ResourceType) -> String { "\(path)/\(type.name)" }

    /// The page of a job whose file waits to be started.
    static func path(of type: ResourceType, job: Int) -> String { "\(path(of: type))/\(job)" }

    /// Whether the caller may import any rows.
    static func isPossible(_ type: ResourceType, for view: CallerView) -> Bool { !modes(type, for: view).isEmpty }

    /// What the caller may choose to do with rows.
    static func modes(_ type: ResourceType, for view: CallerView) -> [ImportMapping.Mode] {
        let (creates, updates) = (view.refusal(.create, type) == nil, mayUpdate(type, view))
        return ImportMapping.Mode.allCases.filter { mode in
            switch mode {
            case .create: creates
            case .update: updates
            case .upsert: creates && updates
            }
        }
    }

    /// Whether the caller may update any fields of more than one object. Everybody may change their own user, which
    /// doesn't take a file.
    private static func mayUpdate(_ type: ResourceType, _ view: CallerView) -> Bool {
        guard
            case .allowed(let filter) = view.rules.authorize(
                view.subject, .update, .objects(classIndex: type.classIndex))
        else { return false }
        if case .compare(let path, .equal, _) = filter, path == PropertyPath(type.key.name) { return false }
        let fixed = view.fixedColumns(of: type)
        return view.fields(of: type).contains { field in
            guard let column = field.column else { return true }
            return !fixed.contains(column)
        }
    }

    func add(to panel: PanelRoutes) {
        let access = ClassPages.access(localized("create or update", context: "may …"), panel.core) { _ in
            [.create, .update]
        }
        panel.page("\(Self.path)/{collection}", access: access) { request, grant in
            .page(try choosing(request, grant))
        }
        panel.upload(
            "\(Self.path)/{collection}", access: access, bodyBytes: ImportLimits.byteCount + Self.formByteCount,
            timeout: ImportLimits.uploadTime
        ) { request, grant, upload in
            let (_, type) = try ClassPages.found(request, grant)
            var separator = ""
            do {
                let id = try await Self.take(&upload, &separator, to: type, request)
                return .redirect(to: Self.path(of: type, job: Int(id)))
            } catch let failure as RequestFailure where failure.code.status.kind == .clientError {
                // The page is shown again, so that another file can be chosen.
                return .page(try choosing(request, grant, separator, failure))
            }
        }
        let file = "\(Self.path)/{collection}/{id}"
        panel.page(file, access: access) { request, grant in try await page(request, grant).answer() }
        panel.action(file, access: access, timeout: ImportLimits.planTime) { request, grant in
            try await page(request, grant).preview()
        }
        panel.action(
            "\(file)/start", access: access, demands: .recentPasswordSometimes, timeout: ImportLimits.planTime
        ) { request, grant in try await page(request, grant).start() }
    }

    private func page(_ request: PanelRequest, _ grant: ClassGrant) throws -> ImportPage {
        let (view, type) = try ClassPages.found(request, grant)
        guard let id = Int64(request.parameter("id")) else {
            throw RequestFailure(.notFound, "There is no such import.", hint: "Jobs lists the ones you have.")
        }
        return ImportPage(request: request, view: view, type: type, id: id)
    }

    // MARK: Uploading

    /// - Parameters:
    ///   - separator: the separator chosen for a file that couldn't be read.
    ///   - problem: why it couldn't be read.
    private func choosing(
        _ request: PanelRequest, _ grant: ClassGrant, _ separator: String = "", _ problem: RequestFailure? = nil
    ) throws -> PanelPage {
        let (_, type) = try ClassPages.found(request, grant)
        let plural = ClassTitle.plural(of: type)
        var values: [String: Any] = [
            "formToken": request.visit.token.formToken, "action": Self.path(of: type), "plural": plural,
            "cancel": ClassPages.path(of: type), "megabytes": ImportLimits.byteCount >> 20,
            "separators": Self.separators.map {
                ["value": $0.value, "title": $0.title, "isChosen": $0.value == separator] as [String: Any]
            },
        ]
        if let problem {
            values["problem"] = ["message": problem.message, "hint": problem.shownHint ?? ""]
        }
        return PanelPage(
            localized("Import \(plural)"), crumbs: [Self.crumb(type)], content: Self.upload.render(values),
            status: problem?.code.status ?? .ok)
    }

    static func crumb(_ type: ResourceType) -> PanelPage.Crumb {
        PanelPage.Crumb(title: ClassTitle.plural(of: type), path: ClassPages.path(of: type))
    }

    /// Reads the file of a form into a job.
    /// - Parameter separator: is set to the chosen separator.
    private static func take(
        _ upload: inout PanelUpload, _ separator: inout String, to type: ResourceType, _ request: PanelRequest
    ) async throws -> Int64 {
        var delimiter: UInt8?
        while let part = try await upload.part() {
            guard let fileName = part.fileName, part.name == "file" else {
                if part.name == "separator" {
                    let value = try await upload.text()
                    separator = value
                    delimiter = separators.first { $0.value == value }?.byte
                }
                continue
            }
            // Browsers send this if no file was chosen.
            guard !fileName.isEmpty else { break }
            let file = ImportFile(format(fileName), delimiter: delimiter)
            var rows = try await ImportUpload(
                file, named: fileName, to: type, by: request.userID, request.core.pool)
            do {
                while let bytes = try await upload.content() { try await rows.add(bytes) }
                // Read to the end: an interrupted form would otherwise look like a short file.
                while try await upload.part() != nil {}
                return try await rows.finish()
            } catch {
                await rows.abandon()
                throw error
            }
        }
        throw RequestFailure(.badRequest, "No file was chosen.", hint: "Choose one.")
    }

    private static func format(_ fileName: String) -> ImportFile.Format {
        let ending = fileName.split(separator: ".").last?.lowercased() ?? ""
        return ["json", "ndjson", "jsonl"].contains(ending) ? .json : .csv
    }
}
