internal import Foundation
public import Logging
public import ServiceLifecycle
internal import Synchronization

/// Does what requests about mails ask for after they were answered, so that neither the answer nor its time tells whether
/// an address has an account. Bounded: a full room refuses every request alike. What waits is lost with the process;
/// people ask for another mail then.
public final class MailRoom: Service {
    /// Jobs that wait; each is one mail at most.
    public static let maximumCount = 1_000
    /// How often a mail is offered to the hook, and the pauses in between.
    public static let maximumAttempts = 4
    public static let retryPauses: [Duration] = [.seconds(1), .seconds(10), .seconds(60)]

    /// Finds out what to send; nil for nothing.
    typealias Job = @Sendable () async throws -> Mail?

    /// Asked for each mail and each attempt; nil while nobody carries mails.
    private let hook: @Sendable () -> MailHook?
    private let logger: Logger
    private let pauses: [Duration]
    private let jobs: AsyncStream<Job>
    private let add: AsyncStream<Job>.Continuation
    /// Mails that wait to be offered again: no more than ``maximumCount``.
    private let waiting = Mutex(0)

    public convenience init(_ hook: MailHook, logger: Logger) {
        self.init(hook, logger: logger, pauses: Self.retryPauses)
    }

    /// - Parameter carrier: who carries mails at the time, which may change; nil while nobody does.
    public convenience init(carrier: @escaping @Sendable () -> MailHook?, logger: Logger) {
        self.init(carrier: carrier, logger: logger, pauses: Self.retryPauses)
    }

    convenience init(_ hook: MailHook, logger: Logger, pauses: [Duration]) {
        self.init(carrier: { hook }, logger: logger, pauses: pauses)
    }

    init(carrier hook: @escaping @Sendable () -> MailHook?, logger: Logger, pauses: [Duration]) {
        self.hook = hook
        self.logger = logger
        self.pauses = pauses
        (jobs, add) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.maximumCount))
    }

    /// Whether somebody carries mails now.
    var hasCarrier: Bool { hook() != nil }

    /// - Throws: ``AuthenticationError/busy`` if the room is full.
    func post(_ job: @escaping Job) throws(AuthenticationError) {
        guard case .enqueued = add.yield(job) else { throw .busy }
    }

    /// Offers a mail to the hook once, and waits for what comes of it.
    /// - Throws: ``MailDeliveryError``, or ``AuthenticationError/noMail`` while nobody carries mails.
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
                            self.logger.error("A mail was given up: too many wait for the hook.")
                            continue
                        }
                        group.addTask { await self.offerAgain(mail) }
                    } catch is CancellationError {
                        return
                    } catch {
                        self.logger.error("A mail could not be prepared: \(error)")
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
            logger.warning("The mail hook did not take a mail to \(mail.purpose.rawValue): \(error)")
            return false
        }
    }

    private func offerAgain(_ mail: Mail) async {
        defer { waiting.withLock { $0 -= 1 } }
        for pause in pauses.prefix(Self.maximumAttempts - 1) {
            do { try await Task.sleep(for: pause) } catch { return }
            if await isTaken(mail) { return }
        }
        logger.error("A mail to \(mail.purpose.rawValue) was given up after \(Self.maximumAttempts) attempts.")
    }
}
