public import Logging
public import TomboloModel
internal import TomboloServerModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Adds the classes and properties that a device has and the server lacks, so that an app's first sync needs no model
/// file. Off in production.
public struct DevelopmentMode: Sendable {
    /// Why something can't be added now, but may be later. The device retries.
    public struct Delay: Error, CustomStringConvertible {
        public let description: String

        public init(_ description: String) { self.description = description }
    }

    private let add: @Sendable (ModelDocument) async throws -> Void
    private let logger: Logger

    /// - Parameter add: makes the document an app's newest one and updates its tables, additively. Throws ``Delay``
    ///   if a retry may succeed.
    public init(add: @escaping @Sendable (ModelDocument) async throws -> Void, logger: Logger) {
        self.add = add
        self.logger = logger
    }

    /// - Returns: whether anything was added.
    /// - Throws: ``SessionFailure`` for classes that contradict the model or can't be understood.
    func extend(_ model: ServerModel, by classes: [HelloClass]) async throws -> Bool {
        let document: ModelDocument?
        do throws(ModelDocumentError) {
            document = try HelloModel.addition(of: classes, to: model)
        } catch {
            throw SessionFailure(.badSchema, "Development mode can't add the device's classes: \(error)")
        }
        guard let document else { return false }
        logger.notice("Development mode is adding a device's classes and properties.")
        do {
            try await add(document)
        } catch let delay as Delay {
            logger.warning("Development mode couldn't add a device's classes and properties yet: \(delay)")
            throw SessionFailure(
                .unavailable, "The server can't add the device's classes right now: \(delay)", isRetryable: true)
        } catch {
            throw SessionFailure(.badSchema, "Development mode can't add the device's classes: \(error)")
        }
        return true
    }
}
