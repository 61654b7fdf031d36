public import Logging
public import TomboloModel
internal import TomboloServerModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Adds the classes and properties that a device has and the server lacks, so that an app's first sync needs no file.
/// Off in production.
public struct DevelopmentMode: Sendable {
    private let add: @Sendable (ModelDocument) async throws -> Void
    private let logger: Logger

    /// - Parameter add: makes the document an app's newest one, and its tables. Additive.
    public init(add: @escaping @Sendable (ModelDocument) async throws -> Void, logger: Logger) {
        self.add = add
        self.logger = logger
    }

    /// - Returns: whether something was added.
    /// - Throws: ``SessionFailure`` for classes that contradict the model, or that can't be understood.
    func extend(_ model: ServerModel, by classes: [HelloClass]) async throws -> Bool {
        let documents: [ModelDocument]
        do throws(ModelDocumentError) {
            documents = try HelloModel.additions(of: classes, to: model)
        } catch {
            throw SessionFailure(.badSchema, "Development mode can't add the device's classes: \(error)")
        }
        for document in documents {
            logger.notice("Development mode adds to the models of '\(document.app)' what a device brought.")
            do {
                try await add(document)
            } catch {
                throw SessionFailure(.badSchema, "Development mode can't add the device's classes: \(error)")
            }
        }
        return !documents.isEmpty
    }
}
