; The rules of a household, in PDDL. Names and meanings are ALFWorld's.

(define (domain alfred)

(:requirements :adl :typing)

(:types agent location receptacle object rtype otype)

(:predicates
    ; Where things are. An object may be in several receptacles.
    (atLocation ?a - agent ?l - location)
    (receptacleAtLocation ?r - receptacle ?l - location)
    (objectAtLocation ?o - object ?l - location)
    (inReceptacle ?o - object ?r - receptacle)
    (holds ?a - agent ?o - object)
    (holdsAny ?a - agent)

    ; What kind of things they are, and which kind may be put where.
    (receptacleType ?r - receptacle ?t - rtype)
    (objectType ?o - object ?t - otype)
    (canContain ?rt - rtype ?ot - otype)

    ; What can be done with them.
    (openable ?r - receptacle)
    (pickupable ?o - object)
    (cleanable ?o - object)
    (heatable ?o - object)
    (coolable ?o - object)
    (sliceable ?o - object)
    (toggleable ?o - object)

    ; What was done.
    (opened ?r - receptacle)
    (isClean ?o - object)
    (isHot ?o - object)
    (isCool ?o - object)
    (isSliced ?o - object)
    (isToggled ?o - object)

    ; Objects inside objects: only told, never changed.
    (isReceptacleObject ?o - object)
    (inReceptacleObject ?inner - object ?outer - object)

    ; An action without any effect does not exist in PDDL: those that only look leave this.
    (checked ?x)
)

(:action look
    :parameters (?a - agent ?l - location)
    :precondition (atLocation ?a ?l)
    :effect (checked ?l)
)

(:action inventory
    :parameters (?a - agent)
    :precondition ()
    :effect (checked ?a)
)

(:action help
    :parameters (?a - agent)
    :precondition ()
    :effect (checked ?a)
)

(:action examineReceptacle
    :parameters (?a - agent ?r - receptacle)
    :precondition (exists (?l - location)
        (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)))
    :effect (checked ?r)
)

(:action examineObject
    :parameters (?a - agent ?o - object)
    :precondition (holds ?a ?o)
    :effect (checked ?o)
)

(:action GotoLocation
    :parameters (?a - agent ?lStart - location ?lEnd - location ?r - receptacle)
    :precondition (and (atLocation ?a ?lStart) (receptacleAtLocation ?r ?lEnd))
    :effect (and (not (atLocation ?a ?lStart)) (atLocation ?a ?lEnd))
)

(:action OpenObject
    :parameters (?a - agent ?l - location ?r - receptacle)
    :precondition (and
        (atLocation ?a ?l)
        (receptacleAtLocation ?r ?l)
        (openable ?r)
        (not (opened ?r)))
    :effect (and (opened ?r) (checked ?r))
)

(:action CloseObject
    :parameters (?a - agent ?l - location ?r - receptacle)
    :precondition (and
        (atLocation ?a ?l)
        (receptacleAtLocation ?r ?l)
        (openable ?r)
        (opened ?r))
    :effect (not (opened ?r))
)

(:action PickupObject
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle)
    :precondition (and
        (not (holdsAny ?a))
        (pickupable ?o)
        (atLocation ?a ?l)
        (receptacleAtLocation ?r ?l)
        (inReceptacle ?o ?r)
        (or (not (openable ?r)) (opened ?r)))
    :effect (and
        (holds ?a ?o)
        (holdsAny ?a)
        (not (inReceptacle ?o ?r))
        (not (objectAtLocation ?o ?l)))
)

(:action PutObject
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle ?ot - otype ?rt - rtype)
    :precondition (and
        (holds ?a ?o)
        (atLocation ?a ?l)
        (receptacleAtLocation ?r ?l)
        (or (not (openable ?r)) (opened ?r))
        (objectType ?o ?ot)
        (receptacleType ?r ?rt)
        (canContain ?rt ?ot))
    :effect (and
        (not (holds ?a ?o))
        (not (holdsAny ?a))
        (inReceptacle ?o ?r)
        (objectAtLocation ?o ?l))
)

(:action CleanObject
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and
        (holds ?a ?o)
        (cleanable ?o)
        (atLocation ?a ?l)
        (receptacleAtLocation ?r ?l)
        (receptacleType ?r SinkBasinType))
    :effect (isClean ?o)
)

(:action HeatObject
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and
        (holds ?a ?o)
        (heatable ?o)
        (atLocation ?a ?l)
        (receptacleAtLocation ?r ?l)
        (receptacleType ?r MicrowaveType))
    :effect (and (isHot ?o) (not (isCool ?o)))
)

(:action CoolObject
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and
        (holds ?a ?o)
        (coolable ?o)
        (atLocation ?a ?l)
        (receptacleAtLocation ?r ?l)
        (receptacleType ?r FridgeType))
    :effect (and (isCool ?o) (not (isHot ?o)))
)

(:action ToggleObject
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle)
    :precondition (and
        (toggleable ?o)
        (atLocation ?a ?l)
        (receptacleAtLocation ?r ?l)
        (inReceptacle ?o ?r))
    :effect (isToggled ?o)
)

(:action SliceObject
    :parameters (?a - agent ?l - location ?co - object ?ko - object)
    :precondition (and
        (holds ?a ?ko)
        (or (objectType ?ko KnifeType) (objectType ?ko ButterKnifeType))
        (sliceable ?co)
        (atLocation ?a ?l)
        (objectAtLocation ?co ?l))
    :effect (isSliced ?co)
)

)
