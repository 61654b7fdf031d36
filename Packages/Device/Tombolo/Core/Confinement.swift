#if canImport(CDispatch)
    internal import CDispatch
#endif
internal import Dispatch
internal import Foundation
internal import Synchronization

/// Where a Realm and its objects may be used. They aren't Sendable, so the compiler already prevents most misuse. This
/// catches the rest.
enum Confinement: Sendable {
    /// The thread that opened the Realm.
    case thread(ThreadID)
    /// Code that runs on a serial queue.
    case queue(DispatchQueue, QueueMark)
    /// Code that an actor isolates.
    case actor(any Actor)
    /// Code of one task, which may change threads, so it isn't checked at run time.
    case task
    /// Anywhere. For a frozen Realm, whose core takes a lock around reads.
    case frozen

    /// The calling thread.
    static var currentThread: Confinement { .thread(.currentOwner) }

    static func serial(_ queue: DispatchQueue) -> Confinement { .queue(queue, QueueMark(marking: queue)) }

    /// The main thread's confinement if this is the main queue or the main actor, since the three are one place;
    /// otherwise unchanged.
    var asMain: Confinement {
        let isMain: Bool
        switch self {
        case .queue(_, let mark): isMain = mark.number == QueueMark.main.number
        case .actor(let owner): isMain = owner === MainActor.shared
        case .thread, .task, .frozen: isMain = false
        }
        let here = ThreadID.currentOwner
        return isMain && here.isMain ? .thread(here) : self
    }

    /// Stops the program if the caller is elsewhere.
    @inline(__always)
    func check() {
        switch self {
        case .thread(let owner): if !owner.isCurrent { Self.fail(Self.threadAdvice) }
        case .queue(_, let mark): if !mark.isCurrent { Self.fail("It belongs to a dispatch queue: use it there only.") }
        case .actor(let owner):
            owner.preconditionIsolated("Realm accessed from incorrect thread. It belongs to the actor \(owner).")
        case .task, .frozen: break
        }
    }

    /// Whether the caller may use the Realm, as far as that can be determined.
    var isCurrent: Bool {
        switch self {
        case .thread(let owner): owner.isCurrent
        case .queue(_, let mark): mark.isCurrent
        case .actor: false
        case .task, .frozen: true
        }
    }

    /// Whether ``schedule(_:)`` works.
    var isReachable: Bool {
        switch self {
        case .thread(let owner): owner.isMain
        case .queue, .actor: true
        case .task, .frozen: false
        }
    }

    private static let threadAdvice = """
        It belongs to the thread that opened it. On other threads, open another Realm and pass primary keys instead \
        of objects. In async code, whose threads change, open it with Realm.open().
        """

    @inline(never)
    private static func fail(_ advice: String) -> Never {
        programError("Realm accessed from incorrect thread. \(advice)")
    }

    /// Runs `body` soon, where the Realm may be used. Returns false if that place can't be reached.
    func schedule(_ body: @escaping @Sendable () -> Void) -> Bool {
        switch self {
        case .thread(let owner):
            guard owner.isMain else { return false }
            DispatchQueue.main.async(execute: body)
        case .queue(let queue, _): queue.async(execute: body)
        case .actor(let owner): Task { await Self.run(body, on: owner) }
        case .task, .frozen: return false
        }
        return true
    }

    private static func run(_ body: @Sendable () -> Void, on owner: isolated any Actor) { body() }

    /// Identifies the place, so that everything in it shares one Realm per file. Nil if Realms are never shared there.
    var cacheKey: String? {
        switch self {
        case .thread(let owner): owner.isMain ? "main" : "thread \(owner)"
        case .queue(_, let mark): "queue \(mark.number)"
        case .actor(let owner): "actor \(ObjectIdentifier(owner))"
        case .task, .frozen: nil
        }
    }
}

/// A thread's system identifier.
struct ThreadID: Equatable, Sendable, CustomStringConvertible {
    private let number: UInt
    /// Whether it's the main thread, or a different thread that runs the main queue. A program can give up its main
    /// thread (`dispatchMain`), and on Linux every program with an asynchronous `main` does.
    let isMain: Bool

    static var current: ThreadID { ThreadID(number: currentNumber, isMain: false) }

    /// The current thread, including whether it's the main thread, which takes longer to determine.
    static var currentOwner: ThreadID {
        if Thread.isMainThread { return ThreadID(number: currentNumber, isMain: true) }
        // The main queue may run on a different thread each time.
        return QueueMark.main.isCurrent ? ThreadID(number: 0, isMain: true) : current
    }

    /// Called on every access.
    @inline(__always)
    var isCurrent: Bool {
        number == Self.currentNumber || (isMain && (MainQueue.isCurrent || Self.currentOwner.isMain))
    }

    static func == (left: ThreadID, right: ThreadID) -> Bool { left.number == right.number }

    var description: String { String(number) }

    private static var currentNumber: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }
}

/// Whether the calling code runs on the main queue itself. Takes a nanosecond, because every access checks it.
/// ``QueueMark`` recognises queues that target the main queue.
private enum MainQueue {
    #if canImport(CDispatch)
        /// The address of the main queue's name, which no other queue shares. Swift's own API only returns copies of
        /// names.
        nonisolated(unsafe) private static let name = dispatch_queue_get_label(dispatch_get_main_queue())

        @inline(__always)
        static var isCurrent: Bool { dispatch_queue_get_label(nil) == name }
    #else
        static var isCurrent: Bool { QueueMark.main.isCurrent }
    #endif
}

/// A mark on a queue, visible only to code running on it.
struct QueueMark: Sendable {
    let number: UInt64

    private static let key = DispatchSpecificKey<UInt64>()

    /// The main queue's mark.
    static let main = QueueMark(marking: .main)

    /// Serialises marking, so that each queue gets only one mark.
    private static let marking = Mutex(())

    init(marking queue: DispatchQueue) {
        number = Self.marking.withLock { _ in
            if let known = queue.getSpecific(key: Self.key) { return known }
            let number = UInt64.random(in: 1 ... .max)
            queue.setSpecific(key: Self.key, value: number)
            return number
        }
    }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == number }
}
