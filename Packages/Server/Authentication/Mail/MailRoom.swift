internal import Foundation
public import Logging
public import ServiceLifecycle
internal import Synchronization
public import TomboloLocalization

/// Does work that requests ask for after they were answered, so that neither the answer nor its time reveals whether an
/// address has an account. It is bounded: a full room refuses every request alike. If the process ends, waiting work is
/// lost; people then request another mail.
///
/// A mail is in the language of the page that requested it, or else in the one that the request prefers
/// (`Accept-Language`). It keeps its language however often delivery is tried.
public final class MailRoom: Service {
    /// The most waiting jobs. Each is one mail at most.
    public static let maximumCount = 1_000
    /// How often delivery of a mail is tried, and the pauses in between.
    public static let maximumAttempts = 4
    public static let retryPauses: [Duration] = [.seconds(1), .seconds(10), .seconds(60)]

    /// Works out which mail to send; nil for none.
    typealias Job = @Sendable () async throws -> Mail?

    /// Called for each mail and each attempt; nil while there is no carrier.
    private let hook: @Sendable () -> MailHook?
    private let languages: MessageCatalogues
    private let logger: Logger
    private let pauses: [Duration]
    private let jobs: AsyncStream<Job>
    private let add: AsyncStream<Job>.Continuation
    /// The number of mails that wait for another attempt, at most ``maximumCount``.
    private let waiting = Mutex(0)

    /// - Parameter languages: the languages of mails besides English.
    public convenience init(
        _ hook: MailHook, languages: MessageCatalogues = MailTranslations.builtIn, logger: Logger
    ) {
        self.init(carrier: { hook }, languages: languages, logger: logger)
    }

    /// - Parameters:
    ///   - carrier: returns the current carrier, which may change; nil while there is none.
    ///   - languages: the languages of mails besides English.
    public convenience init(
        carrier: @escaping @Sendable () -> MailHook?, languages: MessageCatalogues = MailTranslations.builtIn,
        logger: Logger
    ) {
        self.init(carrier: carrier, languages: languages, logger: logger, pauses: Self.retryPauses)
    }

    convenience init(_ hook: MailHook, logger: Logger, pauses: [Duration]) {
        self.init(carrier: { hook }, languages: MailTranslations.builtIn, logger: logger, pauses: pauses)
    }

    init(
        carrier hook: @escaping @Sendable () -> MailHook?, languages: MessageCatalogues, logger: Logger,
        pauses: [Duration]
    ) {
        self.hook = hook
        self.languages = languages
        self.logger = logger
        self.pauses = pauses
        (jobs, add) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maximumCount))
    }

    /// Whether there is currently a carrier.
    var hasCarrier: Bool { hook() != nil }

    /// - Parameter job: runs with the caller's language.
    /// - Throws: ``AuthenticationError/busy`` if the room is full.
    func post(_ job: @escaping Job) throws(AuthenticationError) {
        let catalogue = languages.current
        let translated: Job = { try await MessageCatalogue.$current.withValue(catalogue) { try await job() } }
        guard case .enqueued = add.yield(translated) else { throw .busy }
    }

    /// Tries to deliver a mail once, and waits for the result.
    /// - Throws: ``MailDeliveryError``, or ``AuthenticationError/noMail`` while there is no carrier.
    func deliver(_ mail: Mail) async throws {
        guard let hook = hook() else { throw AuthenticationError.noMail }
        try await hook.deliver(mail)
    }

    /// Works until shutdown.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for await job in self.jobs {
                    do {
                        guard let mail = try await job() else { continue }
                        if await self.isTaken(mail) { continue }
                        guard self.beginWaiting() else {
                            self.logger.error("A mail was dropped: too many are waiting for the hook.")
                            continue
                        }
                        group.addTask { await self.offerAgain(mail) }
                    } catch is CancellationError {
                        return
                    } catch {
                        self.logger.error("A mail couldn't be prepared: \(error)")
                    }
                }
            }
        }
    }

    private func beginWaiting() -> Bool {
        waiting.withLock { count in
            guard count < Self.maximumCount else { return false }
            count += 1
            return true
        }
    }

    private func isTaken(_ mail: Mail) async -> Bool {
        do {
            try await deliver(mail)
            return true
        } catch {
            logger.warning("The mail hook refused a mail (\(mail.purpose.rawValue)): \(error)")
            return false
        }
    }

    private func offerAgain(_ mail: Mail) async {
        defer { waiting.withLock { $0 -= 1 } }
        for pause in pauses.prefix(Self.maximumAttempts - 1) {
            do { try await Task.sleep(for: pause) } catch { return }
            if await isTaken(mail) { return }
        }
        logger.error("A mail (\(mail.purpose.rawValue)) was given up after \(Self.maximumAttempts) attempts.")
    }
}
